//! Generic containers.

pub struct Pen<T> {
    inside: Vec<T>,
    log: Vec<Entry<T>>,
}

struct Entry<T> {
    what: T,
}

impl<T: Clone> Pen<T> {
    pub fn new() -> Self {
        Pen { inside: Vec::new(), log: Vec::new() }
    }

    pub fn add(&mut self, one: T) -> &mut Self {
        self.note(one.clone());
        self.inside.push(one);
        self
    }

    fn note(&mut self, what: T) {
        self.log.push(Entry { what });
    }

    pub fn first(&self) -> Option<&T> {
        self.inside.first()
    }

    pub fn each(&self, f: impl Fn(&T)) {
        for one in self.inside.iter() {
            f(one);
        }
        if let Some(entry) = self.log.last() {
            entry.show();
        }
    }
}

impl<T> Entry<T> {
    fn show(&self) -> &T {
        &self.what
    }
}

impl<T: Clone> Default for Pen<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> Iterator for Pen<T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        self.inside.pop()
    }
}

pub type Cats = Pen<super::Lion>;
