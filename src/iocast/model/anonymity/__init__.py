"""Names become pseudonyms: which texts are names, which of them may stay, and what stands in their place."""
