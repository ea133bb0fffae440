"""Knowledge graphs: tables, compiled adjacency and graph-tool. The only importer of graph_tool."""
