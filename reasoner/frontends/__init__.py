"""Front-ends: text of either notation to one tree. The only importers of lark and yaml."""
