use beasts::util;

fn main() {
    guide(util::round(1.5));
}

fn guide(x: f64) {
    let steps = async { walk(x).await };
    drop(steps);
}

async fn walk(x: f64) -> f64 {
    beasts::limit(x)
}
