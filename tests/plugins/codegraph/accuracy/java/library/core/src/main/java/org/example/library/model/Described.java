package org.example.library.model;

public interface Described {
    String PREFIX = prefix();

    default String describe() {
        return title().trim();
    }

    default String title() {
        return PREFIX;
    }

    static String prefix() {
        return "- ";
    }
}
