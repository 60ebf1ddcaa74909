package org.example.library.util;

public final class Text {
    private Text() {}

    public static String join(String a, String b) {
        return pad(a) + pad(b, 2);
    }

    public static String join(Object... parts) {
        StringBuilder out = new StringBuilder();
        for (Object part : parts) {
            out.append(pad(part.toString()));
        }
        return out.toString();
    }

    static String pad(String text) {
        return pad(text, 1);
    }

    static String pad(String text, int by) {
        return " ".repeat(by) + text;
    }

    public static String pad(char c) {
        return "" + c;
    }

    public static final class Names {
        public static String of(Object thing) {
            return thing.getClass().getName();
        }
    }
}

class Hidden {
    static String secret() {
        return Text.pad("x");
    }
}
