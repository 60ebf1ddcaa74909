package org.example.library.model;

/** A loan is a record. */
public record Loan(Item item, String reader, int days) implements Described {
    public Loan {
        check(days);
    }

    public Loan(Item item, String reader) {
        this(item, reader, item.period().days());
    }

    private static void check(int days) {
        if (days < 0) {
            throw new LoanException("days", days);
        }
    }

    public Loan renew() {
        return new Loan(item, reader(), days + item().period().days());
    }

    public static class LoanException extends RuntimeException {
        public LoanException(String what, int value) {
            super(format(what, value));
        }

        private static String format(String what, int value) {
            return what + value;
        }
    }
}
