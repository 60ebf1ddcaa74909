package org.example.library.model;

import java.util.ArrayList;
import java.util.List;

public class Book extends Item {
    private final List<Chapter> chapters = new ArrayList<>();

    public Book(String name) {
        super(name);
        add(new Chapter("preface", 1));
    }

    public Book add(Chapter chapter) {
        chapters.add(chapter);
        return this;
    }

    public Book add(String title) {
        return add(new Chapter(title, 0)).add(new Chapter(title));
    }

    public Book add(String title, int pages, Object... more) {
        add(title);
        return this;
    }

    @Override
    public Period period() {
        return Period.LONG.times(2);
    }

    public int pages() {
        int sum = 0;
        for (Chapter chapter : chapters) {
            sum += chapter.pages();
        }
        for (var chapter : chapters) {
            sum += chapter.weight();
        }
        return sum;
    }

    @Override
    public String title() {
        return chapters.get(0).title() + super.title();
    }

    public static class Chapter {
        private final String title;
        private int pages;

        public Chapter(String title) {
            this(title, 0);
        }

        Chapter(String title, int pages) {
            this.title = title;
            this.pages = pages;
        }

        String title() {
            return title;
        }

        int pages() {
            return pages;
        }

        int weight() {
            return pages() * 2;
        }
    }
}
