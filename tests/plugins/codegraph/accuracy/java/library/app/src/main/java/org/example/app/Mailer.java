package org.example.app;

import java.io.Closeable;
import java.io.IOException;

public class Mailer {
    private static Mailer instance;
    private Session session;

    public static synchronized Mailer instance() {
        if (instance == null) {
            instance = new Mailer();
        }
        return instance;
    }

    Session open(String name) throws IOException {
        this.session = new Session();
        session.name = name;
        return session.start();
    }

    void fail(Exception e) {
        String text = e == null ? "" : e.getMessage();
        session.write(text);
    }
}

class Session implements Closeable {
    String name;

    Session start() {
        return this;
    }

    void write(String text) {}

    @Override
    public void close() {
        write(name);
    }
}
