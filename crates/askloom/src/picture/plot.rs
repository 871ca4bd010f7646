//! A curve: in characters for a terminal, as SVG for a page.

use super::svg::escaped;
use std::fmt::Write;

/// Points of a curve, and what the axes are.
#[derive(Debug, Clone)]
pub struct Plot {
    pub title: String,
    pub x: Axis,
    pub y: Axis,
    /// From left to right; none of them negative.
    pub points: Vec<(f64, f64)>,
}

/// What an axis is about, and how its numbers are written.
#[derive(Debug, Clone)]
pub struct Axis {
    pub label: String,
    pub written: fn(f64) -> String,
}

const COLUMNS: usize = 60;
const ROWS: usize = 12;

/// Where the points are, each between 0 and 1, by factors: curves of costs go over several powers of ten.
fn placed(values: impl Iterator<Item = f64> + Clone) -> Vec<f64> {
    let scaled = values.map(|value| value.max(f64::MIN_POSITIVE).ln());
    let least = scaled.clone().fold(f64::INFINITY, f64::min);
    let most = scaled.clone().fold(f64::NEG_INFINITY, f64::max);
    let room = if most > least { most - least } else { 1.0 };
    scaled.map(|value| (value - least) / room).collect()
}

impl Plot {
    fn places(&self) -> Vec<(f64, f64)> {
        let x = placed(self.points.iter().map(|(x, _)| *x));
        let y = placed(self.points.iter().map(|(_, y)| *y));
        x.into_iter().zip(y).collect()
    }

    /// For a terminal.
    pub fn text(&self) -> String {
        let mut rows = vec![vec![' '; COLUMNS]; ROWS];
        for (x, y) in self.places() {
            let column = (x * (COLUMNS - 1) as f64).round() as usize;
            let row = ((1.0 - y) * (ROWS - 1) as f64).round() as usize;
            let slot = rows.get_mut(row).and_then(|row| row.get_mut(column));
            slot.into_iter().for_each(|slot| *slot = '*');
        }
        let most = self.points.iter().map(|(_, y)| *y).fold(0.0, f64::max);
        let least = self.points.iter().map(|(_, y)| *y).fold(f64::INFINITY, f64::min);
        let mut text = format!("{}\n", self.y.label);
        for (index, row) in rows.into_iter().enumerate() {
            let mark = match index {
                0 => (self.y.written)(most),
                last if last == ROWS - 1 => (self.y.written)(least),
                _between => String::new(),
            };
            let row: String = row.into_iter().collect();
            let _ = writeln!(text, "{mark:>9} |{}", row.trim_end());
        }
        let ends = self.points.first().zip(self.points.last());
        let (first, last) = ends.map_or((0.0, 0.0), |(first, last)| (first.0, last.0));
        let (first, last) = ((self.x.written)(first), (self.x.written)(last));
        let room = COLUMNS.saturating_sub(first.chars().count());
        let _ = writeln!(text, "{:>9} +{}\n{:>11}{first}{last:>room$}", "", "-".repeat(COLUMNS), "");
        let _ = writeln!(text, "{:>11}{:^COLUMNS$}", "", self.x.label);
        text
    }

    /// For a page.
    pub fn svg(&self) -> String {
        const WIDTH: f64 = 640.0;
        const HEIGHT: f64 = 360.0;
        const LEFT: f64 = 90.0;
        const EDGE: f64 = 48.0;
        let at = |(x, y): (f64, f64)| {
            (LEFT + x * (WIDTH - LEFT - EDGE), HEIGHT - EDGE - y * (HEIGHT - 2.0 * EDGE))
        };
        let mut text = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" width=\"{WIDTH}\" \
             height=\"{HEIGHT}\" font-family=\"system-ui, sans-serif\" font-size=\"12\">\n<title>{}</title>\n\
             <style>{STYLE}</style>\n<rect class=\"paper\" width=\"{WIDTH}\" height=\"{HEIGHT}\"/>\n",
            escaped(&self.title)
        );
        let (bottom, right) = (HEIGHT - EDGE, WIDTH - EDGE);
        let _ = writeln!(text, "<path class=\"axis\" d=\"M{LEFT} {EDGE}V{bottom}H{right}\"/>");
        let places: Vec<(f64, f64)> = self.places().into_iter().map(at).collect();
        let way: Vec<String> = places.iter().map(|(x, y)| format!("{x:.1} {y:.1}")).collect();
        let _ = writeln!(text, "<path class=\"curve\" d=\"M{}\"/>", way.join("L"));
        for ((x, y), (given, value)) in places.iter().zip(&self.points) {
            let (given, value) = ((self.x.written)(*given), (self.y.written)(*value));
            let _ = writeln!(
                text,
                "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4\"><title>{}: {}</title></circle>",
                escaped(&given),
                escaped(&value)
            );
        }
        self.marks(&places, bottom, &mut text);
        let _ = writeln!(
            text,
            "<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n<text x=\"8\" y=\"20\">{}</text>\n</svg>",
            (LEFT + right) / 2.0,
            HEIGHT - 10.0,
            escaped(&self.x.label),
            escaped(&self.y.label)
        );
        text
    }

    /// Numbers at both ends of both axes.
    fn marks(&self, places: &[(f64, f64)], bottom: f64, text: &mut String) {
        let ends = [self.points.first().zip(places.first()), self.points.last().zip(places.last())];
        for (&(given, value), &(x, y)) in ends.into_iter().flatten() {
            let (given, value) = (escaped(&(self.x.written)(given)), escaped(&(self.y.written)(value)));
            let below = bottom + 18.0;
            let _ =
                writeln!(text, "<text x=\"{x:.1}\" y=\"{below:.1}\" text-anchor=\"middle\">{given}</text>");
            let _ = writeln!(text, "<text x=\"82\" y=\"{:.1}\" text-anchor=\"end\">{value}</text>", y + 4.0);
        }
    }
}

const STYLE: &str = ".paper{fill:#fff}.axis{fill:none;stroke:#8a919e}.curve{fill:none;stroke:#2f5fb3;stroke-width:2}\
circle{fill:#2f5fb3}text{fill:#1d2026}@media(prefers-color-scheme:dark){.paper{fill:#16181c}text{fill:#e6e8ec}\
.curve{stroke:#8db0f0}circle{fill:#8db0f0}}";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::human;

    fn plot() -> Plot {
        Plot {
            title: "a < b".to_owned(),
            x: Axis { label: "stored".to_owned(), written: human::bytes },
            y: Axis { label: "cost".to_owned(), written: human::short },
            points: vec![(1e6, 100.0), (1e7, 10.0), (1e8, 1.0)],
        }
    }

    #[test]
    fn a_straight_line_of_factors_is_straight() {
        let text = plot().text();
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[1].ends_with("|*") && lines[12].ends_with('*'), "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= 80));
        assert!(text.contains("1 MB") && text.contains("100 MB"), "{text}");
    }

    #[test]
    fn one_point_is_a_plot_too_and_titles_are_escaped() {
        let one = Plot { points: vec![(0.0, 0.0)], ..plot() };
        assert_eq!(one.text().matches('*').count(), 1);
        let svg = plot().svg();
        assert!(svg.contains("<title>a &lt; b</title>") && svg.matches("<circle").count() == 3, "{svg}");
    }
}
