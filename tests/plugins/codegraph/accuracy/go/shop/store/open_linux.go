package store

// Open opens the store of the platform.
func Open() *Memory { return native() }

func native() *Memory { return NewMemory() }
