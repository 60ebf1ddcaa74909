package org.example.app;

import static org.example.library.util.Text.*;
import static org.example.library.util.Text.Names.of;

import java.io.IOException;
import java.util.List;
import java.util.stream.Collectors;
import org.example.library.model.*;
import org.example.library.model.Book.Chapter;
import org.example.library.store.Repository;
import org.example.library.store.Repository.Visitor;

@interface Autowired {}

public class Service {
    @Autowired private Mailer mailer;
    private final Repository<Book> books;
    private final Repository<Item> items;

    @Autowired
    public Service(Repository<Book> books, Repository<Item> items) {
        this.books = books;
        this.items = items;
    }

    public List<String> titles() {
        return books.all().stream()
                .filter(book -> book.pages() > 3)
                .sorted()
                .map(Book::title)
                .collect(Collectors.toList());
    }

    public String report(String name) {
        Book book = books.get(name);
        var first = books.find(name).orElseThrow();
        first.add("one").add(new Chapter("two")).add("three", 3, 4, 5);
        book.size();
        return join(book.name(), of(first)) + join(1, 2, 3);
    }

    public void send() {
        try (Session session = mailer.open("x")) {
            session.write(report("x"));
        } catch (IOException | Loan.LoanException e) {
            mailer.fail(e);
        } finally {
            close();
        }
    }

    private void close() {
        Runnable later = () -> mailer.fail(null);
        later.run();
        new Thread(this::flush).start();
    }

    private void flush() {}

    public int count(Object thing) {
        if (thing instanceof Book book && book.pages() > 1) {
            return book.pages();
        }
        if (!(thing instanceof Loan loan)) {
            return 0;
        }
        loan.renew();
        Period period = Period.parse("x");
        return switch (period) {
            case SHORT -> small(loan.item());
            case LONG -> {
                int n = small(new Book("x"));
                yield n;
            }
            default -> period.days();
        };
    }

    private int small(Item item) {
        return item.size();
    }

    private int small(Book book) {
        return book.pages();
    }

    public void visit() {
        items.visit(
                new Visitor() {
                    private int seen;

                    @Override
                    public void item(Item item) {
                        seen += small(item);
                        log(item.describe());
                    }

                    @Override
                    public void loan(Loan loan, int days) {
                        loan.renew();
                    }

                    private void log(String line) {
                        flush();
                    }
                });
        items.each(item -> item.period());
        books.with(book -> book.pages()).put((Book) items.get("x"));
        class Local extends Mailer {
            @Override
            void fail(Exception e) {
                super.fail(e);
                flush();
            }
        }
        new Local().fail(null);
        Book[] shelf = {new Book("a"), books.get("b")};
        shelf[0].add("c");
        Book[][] grid = new Book[2][2];
        grid[0][1].period().times(1);
        (items.all().isEmpty() ? shelf[0] : shelf[1]).pages();
        org.example.library.util.Text.join("a", "b");
    }
}
