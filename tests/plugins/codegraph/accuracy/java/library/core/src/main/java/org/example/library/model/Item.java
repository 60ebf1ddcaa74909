package org.example.library.model;

import java.util.Objects;

/** Something to lend. */
public abstract class Item implements Described, Comparable<Item> {
    private final String name;
    protected int size;
    static int made = count(0);

    protected Item(String name) {
        this(name, 1);
    }

    protected Item(String name, int size) {
        this.name = Objects.requireNonNull(name);
        this.size = size;
        register();
    }

    static int count(int from) {
        return from + 1;
    }

    private void register() {
        made = count(made);
    }

    public String name() {
        return name;
    }

    public int size() {
        return size;
    }

    /** How long it may be lent. */
    public abstract Period period();

    @Override
    public int compareTo(Item other) {
        return name().compareTo(other.name());
    }

    @Override
    public String describe() {
        return Described.super.describe() + name + period().days();
    }
}
