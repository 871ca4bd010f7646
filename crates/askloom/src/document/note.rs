//! What is said about a design, and the line of the model that it is about.

use super::{PlanDocument, Subject};
use askloom_model::{AssumptionAbout, Member, Span};
use askloom_plan::planner;
use serde::Serialize;

/// A remark. It has a file and a line where there is one that it is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Note {
    pub text: String,
    #[serde(flatten)]
    pub place: SourceLine,
    /// The statement whose rate was assumed, so that a list of them can be told in one sentence.
    #[serde(skip)]
    pub unrated: Option<String>,
}

/// A line of the model. Nothing for what was never written.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct SourceLine {
    pub file: Option<String>,
    pub line: Option<u32>,
}

/// A file of the model, for a page that shows its lines.
#[derive(Debug, Clone, Serialize)]
pub struct SourceText {
    pub file: String,
    pub text: String,
}

impl Note {
    pub(super) fn new(text: String, place: SourceLine) -> Self {
        Self { text, place, unrated: None }
    }
}

impl Subject<'_> {
    /// Where a span starts.
    pub(super) fn place(&self, span: Span) -> SourceLine {
        if span.start == span.end || self.sources.get(span.file).is_none() {
            return SourceLine::default();
        }
        let line = u32::try_from(self.sources.start(span).line).ok();
        SourceLine { file: Some(self.file_name(span.file)), line }
    }

    /// The model by its name alone, what it imports relative to it.
    fn file_name(&self, file: askloom_model::FileId) -> String {
        match file.0 {
            0 => self.file.to_owned(),
            _imported => self.sources.path(file).display().to_string(),
        }
    }

    pub(super) fn source_texts(&self) -> Vec<SourceText> {
        let all = self.sources.iter();
        all.map(|(id, file)| SourceText { file: self.file_name(id), text: file.text.clone() }).collect()
    }

    /// What all plans assume, each once, and the rates that the model does not say.
    pub(super) fn assumed(&self, plans: &[PlanDocument]) -> Vec<Note> {
        let mut known: Vec<AssumptionAbout> = Vec::new();
        let mut notes = Vec::new();
        for plan in plans {
            for assumption in &plan.assumed {
                if known.contains(&assumption.about) {
                    continue;
                }
                known.push(assumption.about);
                let place =
                    self.about(assumption.about).map_or_else(|| plan.place.clone(), |at| self.place(at));
                let words = planner::assumptions(self.model, &[*assumption]);
                notes.extend(words.into_iter().map(|text| Note::new(text, place.clone())));
            }
        }
        for plan in plans.iter().filter(|plan| plan.rate.is_none()) {
            let text = format!("{} once a second", plan.statement);
            notes.push(Note { text, place: plan.place.clone(), unrated: Some(plan.statement.clone()) });
        }
        notes
    }

    /// What in the model would say the number; nothing where it is the statement itself that leaves it open.
    fn about(&self, about: AssumptionAbout) -> Option<Span> {
        let conceptual = &self.model.conceptual;
        match about {
            AssumptionAbout::Count(class) => Some(conceptual.classes[class].span),
            AssumptionAbout::Average(member)
            | AssumptionAbout::Present(member)
            | AssumptionAbout::Distinct(member)
            | AssumptionAbout::Bytes(member) => Some(conceptual.member_span(member)),
            AssumptionAbout::Days(id) => Some(conceptual.member_span(Member::Attribute(id))),
            AssumptionAbout::Share(_) | AssumptionAbout::ListLength | AssumptionAbout::Rows => None,
        }
    }
}
