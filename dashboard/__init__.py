"""The dashboard: pages in the browser that show runs from their files alone.

It reads through `store` and knows of `agent` only goals, pictures and statistics. It trains nothing, without torch.
"""
