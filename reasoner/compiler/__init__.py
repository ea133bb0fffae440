"""The compiler: a recipe in, a plan or findings out. It never runs anything."""
