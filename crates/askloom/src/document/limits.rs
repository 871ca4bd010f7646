//! What of a design is larger than its store takes.

use super::Subject;
use super::note::Note;
use askloom_design::limits::{self, Broken, all_broken};
use askloom_plan::cost::Statistics;

impl Subject<'_> {
    pub fn broken(&self) -> Vec<Broken> {
        let statistics = Statistics::new(&self.model.conceptual);
        all_broken(self.target.capability, &statistics, self.design)
    }

    /// Those that make the design useless on the store.
    pub(super) fn misfits(&self) -> Vec<String> {
        let name = |broken: &Broken| &self.design.collections[broken.collection].name;
        let wrong = self.broken().into_iter().filter(Broken::is_error);
        wrong.map(|broken| format!("{}: {}", name(&broken), broken.text(self.target.capability))).collect()
    }

    /// The same for people, each at the class that it is about.
    pub(super) fn limits(&self) -> Vec<Note> {
        let (capability, conceptual) = (self.target.capability, &self.model.conceptual);
        let note = |broken: Broken| {
            let diagnostic = broken.diagnostic(capability, conceptual, self.design);
            let name = &self.design.collections[broken.collection].name;
            let weight = if broken.is_error() { "does not fit: " } else { "" };
            let text = format!("{name}: {weight}{}", broken.text(capability));
            Note::new(text, self.place(diagnostic.span()))
        };
        let hot = limits::hot(self.model, &self.costing(), self.design).into_iter().map(|hot| {
            let collection = &self.design.collections[hot.collection];
            let text = format!("{}: {}", collection.name, hot.text());
            Note::new(text, self.place(conceptual.classes[collection.source.root].span))
        });
        self.broken().into_iter().map(note).chain(hot).collect()
    }
}
