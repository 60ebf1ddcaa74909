package org.example.library.model;

public enum Period implements Described {
    SHORT(7),
    LONG(28) {
        @Override
        int factor() {
            return bonus();
        }
    },
    NEVER;

    private final int days;

    Period() {
        this(0);
    }

    Period(int days) {
        this.days = days;
    }

    int factor() {
        return 1;
    }

    int bonus() {
        return 2;
    }

    public Period times(int n) {
        return days() * n > 7 ? LONG : SHORT;
    }

    public int days() {
        return days * factor();
    }

    public static Period parse(String text) {
        for (Period each : values()) {
            if (each.describe().equals(text)) {
                return each;
            }
        }
        return NEVER.times(0);
    }
}
