"""What a conversation says beyond what rules find: asked of a model, and held against its words."""
