//! Whether the saved design still answers the model, and whether another would be cheaper.

use super::{Prepared, unanswered};
use crate::document::Document;
use crate::exit::{Exit, Failure};
use crate::model::saved_path;
use crate::screen::Screen;
use std::path::Path;

/// A design is worth naming if it costs less than this part of the saved one: below it is noise of the sums.
const WORTH_NAMING: f64 = 0.999;

impl Prepared {
    pub(super) fn check(&self, file: &Path, screen: &mut Screen) -> Result<Exit, Failure> {
        let path = saved_path(file, self.target.capability.target);
        let Some(proposal) = self.saved(file, screen)? else {
            let why = format!("there is no {}; `askloom design --save` writes it", path.display());
            return Err(Failure::Input(why));
        };
        let document = self.subject(&proposal).document();
        let missing = unanswered(&document);
        if !missing.is_empty() {
            let why = format!("{} no longer answers the model:\n  {}", path.display(), missing.join("\n  "));
            return Err(Failure::Input(why));
        }
        screen.say(&format!("{} answers all of {}", path.display(), self.name));
        for words in self.cheaper_than(&document) {
            screen.say(&words);
        }
        Ok(Exit::Done)
    }

    /// Each method whose design would cost less, with how much.
    fn cheaper_than(&self, saved: &Document) -> Vec<String> {
        let mut cheaper = Vec::new();
        for method in self.methods() {
            // A method that makes no design of this model is not cheaper.
            let proposal = self.proposal(method);
            let cost = self.subject(&proposal).document().total.cost;
            if cost < saved.total.cost * WORTH_NAMING {
                cheaper.push(format!("{} would cost {}", method.name(), less(cost / saved.total.cost)));
            }
        }
        cheaper
    }
}

/// How much less a part is than the whole.
fn less(part: f64) -> String {
    match 100.0 * (1.0 - part) {
        per_cent if per_cent < 1.0 => "less, by less than 1 %".to_owned(),
        // All but nothing is not nothing.
        per_cent if per_cent > 99.0 && part > 0.0 => "less, by more than 99 %".to_owned(),
        per_cent => format!("{per_cent:.0} % less"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hair_is_called_one() {
        assert_eq!(less(0.998), "less, by less than 1 %");
        assert_eq!(less(0.989), "1 % less");
        assert_eq!(less(0.4), "60 % less");
        assert_eq!(less(0.0001), "less, by more than 99 %");
    }
}
