//! The reliability plot of a card, as SVG with light and dark colours and a description for people who
//! cannot see it. Coordinates have two decimals, so the same figures give the same bytes.

use std::fmt::Write as _;

use crate::metrics::Reliability;

const SIDE: f64 = 320.0;
const LEFT: f64 = 64.0;
const TOP: f64 = 56.0;
const WIDTH: f64 = 560.0;
const HEIGHT: f64 = 440.0;
const TICKS: usize = 5;

/// Classes of curves, which differ in shape as well as in colour.
const MARKS: [&str; 3] = ["a", "b", "c"];

const STYLE: &str = "\
text{font:13px system-ui,sans-serif;fill:#1c2430}\
.title{font-size:16px;font-weight:600}\
.quiet{fill:#56606e}\
.paper{fill:#ffffff}\
.grid{stroke:#dfe4ea;stroke-width:1}\
.ideal{stroke:#56606e;stroke-width:1.5;stroke-dasharray:5 4}\
.a{stroke:#0b5fa5;fill:#0b5fa5}.b{stroke:#a34700;fill:#a34700}.c{stroke:#2b7a3d;fill:#2b7a3d}\
line.a,line.b,line.c,polyline{stroke-width:1.5;fill:none}\
@media(prefers-color-scheme:dark){\
text{fill:#e8ecf1}.quiet{fill:#a8b2bf}.paper{fill:#14181d}.grid{stroke:#2c343d}.ideal{stroke:#a8b2bf}\
.a{stroke:#6db6f2;fill:#6db6f2}.b{stroke:#f2a25c;fill:#f2a25c}.c{stroke:#7fcf92;fill:#7fcf92}}";

/// Plots up to three curves with 95 % intervals.
pub(crate) fn reliability(title: &str, curves: &[Reliability]) -> String {
    let mut svg = String::new();
    let errors: Vec<_> = curves.iter().map(|curve| format!("{}: {:.4}", curve.name, curve.ece)).collect();
    // Writing to a String cannot fail.
    let _ = writeln!(
        svg,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" \
         aria-labelledby=\"title description\">\n<title id=\"title\">{title}</title>\n\
         <desc id=\"description\">Predicted probability against observed frequency, in bins of equally many \
         held-out rows; a perfect model lies on the diagonal. Expected calibration errors: {}.</desc>\n\
         <style>{STYLE}</style>\n<rect class=\"paper\" width=\"{WIDTH}\" height=\"{HEIGHT}\"/>\n\
         <text class=\"title\" x=\"{LEFT}\" y=\"30\">{title}</text>",
        errors.join(", ")
    );
    axes(&mut svg);
    for (curve, mark) in curves.iter().zip(MARKS) {
        draw(&mut svg, curve, mark);
    }
    legend(&mut svg, curves);
    svg.push_str("</svg>\n");
    svg
}

fn x(value: f64) -> f64 {
    LEFT + SIDE * value
}

fn y(value: f64) -> f64 {
    TOP + SIDE * (1.0 - value)
}

fn axes(svg: &mut String) {
    for tick in 0..=TICKS {
        let value = tick as f64 / TICKS as f64;
        let (x, y) = (x(value), y(value));
        let _ = writeln!(
            svg,
            "<line class=\"grid\" x1=\"{x:.2}\" y1=\"{TOP}\" x2=\"{x:.2}\" y2=\"{:.2}\"/>\
             <line class=\"grid\" x1=\"{LEFT}\" y1=\"{y:.2}\" x2=\"{:.2}\" y2=\"{y:.2}\"/>\
             <text class=\"quiet\" x=\"{x:.2}\" y=\"{:.2}\" text-anchor=\"middle\">{value:.1}</text>\
             <text class=\"quiet\" x=\"{:.2}\" y=\"{:.2}\" text-anchor=\"end\">{value:.1}</text>",
            TOP + SIDE,
            LEFT + SIDE,
            TOP + SIDE + 20.0,
            LEFT - 10.0,
            y + 4.0,
        );
    }
    let _ = writeln!(
        svg,
        "<line class=\"ideal\" x1=\"{:.2}\" y1=\"{:.2}\" x2=\"{:.2}\" y2=\"{:.2}\"/>\
         <text x=\"{:.2}\" y=\"{:.2}\" text-anchor=\"middle\">predicted probability</text>\
         <text x=\"18\" y=\"{:.2}\" text-anchor=\"middle\" transform=\"rotate(-90 18 {:.2})\">observed frequency</text>",
        x(0.0),
        y(0.0),
        x(1.0),
        y(1.0),
        x(0.5),
        TOP + SIDE + 44.0,
        y(0.5),
        y(0.5),
    );
}

fn draw(svg: &mut String, curve: &Reliability, mark: &str) {
    let points: Vec<_> =
        curve.bins.iter().map(|bin| format!("{:.2},{:.2}", x(bin.predicted), y(bin.observed.value))).collect();
    let _ = writeln!(svg, "<polyline class=\"{mark}\" style=\"fill:none\" points=\"{}\"/>", points.join(" "));
    for bin in &curve.bins {
        let at = x(bin.predicted);
        let _ = writeln!(
            svg,
            "<line class=\"{mark}\" x1=\"{at:.2}\" y1=\"{:.2}\" x2=\"{at:.2}\" y2=\"{:.2}\"/>{}",
            y(bin.observed.low),
            y(bin.observed.high),
            shape(at, y(bin.observed.value), mark),
        );
    }
}

fn shape(x: f64, y: f64, mark: &str) -> String {
    match mark {
        "a" => format!("<circle class=\"a\" cx=\"{x:.2}\" cy=\"{y:.2}\" r=\"4\"/>"),
        "b" => format!("<rect class=\"b\" x=\"{:.2}\" y=\"{:.2}\" width=\"7\" height=\"7\"/>", x - 3.5, y - 3.5),
        _ => format!(
            "<path class=\"c\" d=\"M{x:.2} {:.2}L{:.2} {:.2}L{:.2} {:.2}Z\"/>",
            y - 5.0,
            x + 5.0,
            y + 4.0,
            x - 5.0,
            y + 4.0
        ),
    }
}

fn legend(svg: &mut String, curves: &[Reliability]) {
    let left = LEFT + SIDE + 28.0;
    let _ = writeln!(svg, "<text class=\"quiet\" x=\"{left:.2}\" y=\"{:.2}\">calibration error</text>", TOP + 14.0);
    for (index, (curve, mark)) in curves.iter().zip(MARKS).enumerate() {
        let y = TOP + 44.0 + 46.0 * index as f64;
        let _ = writeln!(
            svg,
            "{}<text x=\"{:.2}\" y=\"{:.2}\">{}</text><text class=\"quiet\" x=\"{:.2}\" y=\"{:.2}\">{:.4}</text>",
            shape(left + 4.0, y - 4.0, mark),
            left + 18.0,
            y,
            curve.name,
            left + 18.0,
            y + 18.0,
            curve.ece,
        );
    }
}
