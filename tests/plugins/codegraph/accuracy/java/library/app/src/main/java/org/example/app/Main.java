package org.example.app;

import org.example.library.model.Book;
import org.example.library.store.Repository;

public class Main {
    private static final Service SERVICE = create();
    private static final Mailer MAILER = Mailer.instance();

    static {
        SERVICE.visit();
    }

    private static Service create() {
        return new Service(new Repository<>(), new Repository<>());
    }

    public static void main(String[] args) throws Exception {
        SERVICE.titles().forEach(System.out::println);
        MAILER.open("main").close();
        Outer outer = new Outer();
        Outer.Inner inner = outer.new Inner();
        inner.run();
        new Book("x").describe();
    }

    static class Outer {
        int value() {
            return 1;
        }

        class Inner extends Base {
            void run() {
                value();
                shared();
                this.hook();
            }
        }
    }

    abstract static class Base {
        void shared() {
            hook();
        }

        void hook() {}
    }
}
