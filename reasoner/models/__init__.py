"""Models: chat and embeddings. The only importer of litellm and sentence-transformers."""
