package org.example.app;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.example.library.model.Book;
import org.example.library.store.Repository;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class ServiceTest {
    private Service service;
    private final Repository<Book> books = new Repository<>();

    @BeforeEach
    void setUp() {
        service = new Service(books, new Repository<>());
        books.put(new Book("x"));
    }

    @Test
    void countsPages() {
        assertEquals(0, service.count(null));
        assertEquals(1, service.titles().size());
    }
}
