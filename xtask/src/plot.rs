//! A curve as SVG, for a document: both axes by factors of ten.

use std::fmt::Write;

const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 360.0;
const LEFT: f64 = 70.0;
const EDGE: f64 = 48.0;

/// Points from left to right, with a name for each axis.
pub(crate) fn svg(title: &str, x: &str, y: &str, points: &[(f64, f64)]) -> String {
    let places: Vec<(f64, f64)> = scaled(points.iter().map(|point| point.0))
        .into_iter()
        .zip(scaled(points.iter().map(|point| point.1)))
        .map(|(x, y)| (LEFT + x * (WIDTH - LEFT - EDGE), HEIGHT - EDGE - y * (HEIGHT - 2.0 * EDGE)))
        .collect();
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" width=\"{WIDTH}\" \
         height=\"{HEIGHT}\" font-family=\"system-ui, sans-serif\" font-size=\"12\">\n<title>{title}</title>\n\
         <style>{STYLE}</style>\n<rect class=\"paper\" width=\"{WIDTH}\" height=\"{HEIGHT}\"/>\n\
         <path class=\"axis\" d=\"M{LEFT} {EDGE}V{bottom}H{right}\"/>\n",
        bottom = HEIGHT - EDGE,
        right = WIDTH - EDGE,
    );
    let way: Vec<String> = places.iter().map(|(x, y)| format!("{x:.1} {y:.1}")).collect();
    let _ = writeln!(text, "<path class=\"curve\" d=\"M{}\"/>", way.join("L"));
    for ((x, y), (given, value)) in places.iter().zip(points) {
        let (above, below) = (y - 10.0, HEIGHT - EDGE + 18.0);
        let _ = writeln!(
            text,
            "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4\"/>\n\
             <text x=\"{x:.1}\" y=\"{above:.1}\" text-anchor=\"end\">{value:.2}</text>\n\
             <text x=\"{x:.1}\" y=\"{below:.1}\" text-anchor=\"middle\">{given}</text>"
        );
    }
    let middle = (LEFT + WIDTH - EDGE) / 2.0;
    let _ = writeln!(
        text,
        "<text x=\"{middle}\" y=\"{}\" text-anchor=\"middle\">{x}</text>\n<text x=\"8\" y=\"20\">{y}</text>\n</svg>",
        HEIGHT - 10.0
    );
    text
}

/// Each between 0 and 1.
fn scaled(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let logs: Vec<f64> = values.map(|value| value.max(f64::MIN_POSITIVE).ln()).collect();
    let least = logs.iter().copied().fold(f64::INFINITY, f64::min);
    let most = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let room = if most > least { most - least } else { 1.0 };
    logs.into_iter().map(|log| (log - least) / room).collect()
}

const STYLE: &str = ".paper{fill:#fff}.axis{fill:none;stroke:#8a919e}.curve{fill:none;stroke:#2f5fb3;stroke-width:2}\
circle{fill:#2f5fb3}text{fill:#1d2026}@media(prefers-color-scheme:dark){.paper{fill:#16181c}text{fill:#e6e8ec}\
.curve{stroke:#8db0f0}circle{fill:#8db0f0}}";

#[cfg(test)]
mod tests {
    #[test]
    fn every_point_has_a_place_and_its_number() {
        let text = super::svg("t", "statements", "seconds", &[(10.0, 0.1), (100.0, 1.0), (1000.0, 10.0)]);
        assert_eq!(text.matches("<circle").count(), 3);
        assert!(
            text.contains("cx=\"70.0\"") && text.contains("cx=\"592.0\"") && text.contains(">10.00<"),
            "{text}"
        );
    }
}
