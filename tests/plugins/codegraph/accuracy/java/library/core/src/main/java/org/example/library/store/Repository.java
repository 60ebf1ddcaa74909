package org.example.library.store;

import java.util.*;
import java.util.function.*;
import org.example.library.model.Item;
import org.example.library.model.Loan;

public class Repository<T extends Item> implements Iterable<T> {
    protected final Map<String, T> items = new HashMap<>();
    private final Deque<Loan> loans = new ArrayDeque<>();
    private Listener<T> listener = Listener.none();

    public Repository<T> with(Listener<T> listener) {
        this.listener = listener;
        return this;
    }

    public void put(T item) {
        items.put(item.name(), item);
        listener.changed(item);
    }

    public Optional<T> find(String name) {
        return Optional.ofNullable(items.get(name));
    }

    public T get(String name) {
        T item = items.get(name);
        if (item == null) {
            throw missing(name);
        }
        return item;
    }

    private RuntimeException missing(String name) {
        return new Loan.LoanException(name, 0);
    }

    public List<T> all() {
        return new ArrayList<>(items.values());
    }

    public void lend(String name, String reader) {
        find(name).map(item -> new Loan(item, reader)).ifPresent(loans::push);
        Loan last = loans.peek();
        last.renew().describe();
        items.forEach((key, item) -> item.describe());
    }

    public void each(Consumer<T> action) {
        for (T item : this) {
            action.accept(item);
        }
    }

    public void visit(Visitor visitor) {
        for (Map.Entry<String, T> entry : items.entrySet()) {
            visitor.item(entry.getValue());
            entry.getValue().describe();
        }
        loans.forEach(loan -> visitor.loan(loan, loan.days()));
    }

    @Override
    public Iterator<T> iterator() {
        return new Cursor(all());
    }

    private class Cursor implements Iterator<T> {
        private final List<T> list;
        private int at;

        Cursor(List<T> list) {
            this.list = list;
        }

        public boolean hasNext() {
            return at < list.size();
        }

        public T next() {
            T found = list.get(at++);
            Repository.this.put(found);
            listener.changed(found);
            return found;
        }
    }

    public interface Visitor {
        void item(Item item);

        void loan(Loan loan, int days);
    }

    @FunctionalInterface
    public interface Listener<T> {
        void changed(T item);

        static <T> Listener<T> none() {
            return item -> {};
        }
    }
}
