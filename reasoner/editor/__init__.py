"""What an editor asks about a recipe while it is being written: the language server and its parts.

Completion works on words and brackets, so it goes on where a text does not parse; hover, definition
and rename work on the tree of the last text that did.
"""
