//! Whether the saved design still answers the model, and whether another would be cheaper.

use super::Designing;
use crate::exit::Exit;
use crate::screen::Screen;
use askloom::Error;
use askloom::designer::Cheaper;

impl Designing {
    pub(super) fn check(&self, screen: &mut Screen) -> Result<Exit, Error> {
        let path = self.project.saved_path(self.target());
        let Some(proposal) = self.saved()? else {
            let why = format!("there is no {}; `askloom design --save` writes it", path.display());
            return Err(Error::Input(why));
        };
        let document = self.designer.document(&proposal);
        let missing = document.unanswered();
        if !missing.is_empty() {
            let why = format!("{} no longer answers the model:\n  {}", path.display(), missing.join("\n  "));
            return Err(Error::Input(why));
        }
        screen.say(&format!("{} answers all of {}", path.display(), self.designer.name));
        let watch = self.watch();
        let cheaper = self.designer.cheaper_than(&document, &watch.progress());
        drop(watch);
        for Cheaper { method, part } in cheaper {
            screen.say(&format!("{} would cost {}", method.name(), less(part)));
        }
        Ok(Exit::Done)
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
