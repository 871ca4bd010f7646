use crate::{Code, Severity, Span};

/// Something to say about a text: data, rendered elsewhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    pub code: Code,
    pub severity: Severity,
    pub message: String,
    /// The first label is the place; the others explain it.
    pub labels: Vec<Label>,
    pub hint: Option<String>,
    pub fix: Option<Fix>,
}

/// A place, and what is to be said of it there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Label {
    pub span: Span,
    pub text: String,
}

/// A change of the text that resolves a diagnostic.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fix {
    pub title: String,
    pub edits: Vec<Edit>,
    pub applicability: Applicability,
}

/// Whether a fix may be applied without asking.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Applicability {
    /// It says what the author plainly meant.
    Safe,
    /// It changes what the model means, or there are other good ways: a person decides.
    Suggested,
}

/// Replace the text under a span.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edit {
    pub span: Span,
    pub text: String,
}

impl Diagnostic {
    /// A diagnostic with the severity of its code.
    pub fn new(code: Code, span: Span, message: impl Into<String>) -> Self {
        Self {
            code,
            severity: code.severity(),
            message: message.into(),
            labels: vec![Label { span, text: String::new() }],
            hint: None,
            fix: None,
        }
    }

    /// The place it is about.
    #[must_use]
    pub fn span(&self) -> Span {
        self.labels.first().map(|label| label.span).unwrap_or_default()
    }

    /// Words at the place itself.
    #[must_use]
    pub fn here(mut self, text: impl Into<String>) -> Self {
        if let Some(label) = self.labels.first_mut() {
            label.text = text.into();
        }
        self
    }

    /// Another place that explains this one.
    #[must_use]
    pub fn also(mut self, span: Span, text: impl Into<String>) -> Self {
        self.labels.push(Label { span, text: text.into() });
        self
    }

    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// A fix that says what was plainly meant.
    #[must_use]
    pub fn fix(self, title: impl Into<String>, edits: Vec<Edit>) -> Self {
        self.with_fix(title, edits, Applicability::Safe)
    }

    /// A fix that a person has to agree to.
    #[must_use]
    pub fn suggest(self, title: impl Into<String>, edits: Vec<Edit>) -> Self {
        self.with_fix(title, edits, Applicability::Suggested)
    }

    /// One place replaced by one text, safely.
    #[must_use]
    pub fn replace(self, span: Span, text: impl Into<String>) -> Self {
        let text = text.into();
        let title = if span.start == span.end {
            format!("insert `{}`", text.trim())
        } else if text.is_empty() {
            "remove this".to_owned()
        } else {
            format!("write `{text}`")
        };
        self.fix(title, vec![Edit { span, text }])
    }

    #[must_use]
    pub fn severity(mut self, severity: Severity) -> Self {
        self.severity = severity;
        self
    }

    #[must_use]
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }

    fn with_fix(mut self, title: impl Into<String>, edits: Vec<Edit>, applicability: Applicability) -> Self {
        self.fix = Some(Fix { title: title.into(), edits, applicability });
        self
    }
}

/// A bounded list of diagnostics. What does not fit is counted, so that it can be said. Each severity has a bound of
/// its own, so that no number of notes hides an error.
#[derive(Debug, Clone)]
pub struct Diagnostics {
    list: Vec<Diagnostic>,
    limit: usize,
    errors: usize,
    warnings: usize,
    notes: usize,
}

impl Diagnostics {
    /// How many of a severity are kept unless another limit is asked for. Nobody reads more, and each holds text.
    pub const LIMIT: usize = 1000;

    #[must_use]
    pub fn with_limit(limit: usize) -> Self {
        Self { list: Vec::new(), limit, errors: 0, warnings: 0, notes: 0 }
    }

    pub fn push(&mut self, diagnostic: Diagnostic) {
        let count = match diagnostic.severity {
            Severity::Error => &mut self.errors,
            Severity::Warning => &mut self.warnings,
            Severity::Note => &mut self.notes,
        };
        *count += 1;
        if *count <= self.limit {
            self.list.push(diagnostic);
        }
    }

    /// True once further errors are only counted: whoever makes one can then skip costly hints.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.errors >= self.limit
    }

    /// How many were counted but not kept, and the gravest severity among them.
    #[must_use]
    pub fn dropped(&self) -> Option<(usize, Severity)> {
        let beyond = |count: usize| count.saturating_sub(self.limit);
        let dropped = beyond(self.errors) + beyond(self.warnings) + beyond(self.notes);
        let gravest = if beyond(self.errors) > 0 {
            Severity::Error
        } else if beyond(self.warnings) > 0 {
            Severity::Warning
        } else {
            Severity::Note
        };
        (dropped > 0).then_some((dropped, gravest))
    }

    /// How many errors there were, kept or not.
    #[must_use]
    pub fn errors(&self) -> usize {
        self.errors
    }

    #[must_use]
    pub fn as_slice(&self) -> &[Diagnostic] {
        &self.list
    }

    /// Everything that was kept, in the order of the text.
    #[must_use]
    pub fn into_sorted(mut self) -> Vec<Diagnostic> {
        self.list.sort_by_key(|diagnostic| (diagnostic.span(), diagnostic.code));
        self.list
    }
}

impl Default for Diagnostics {
    fn default() -> Self {
        Self::with_limit(Self::LIMIT)
    }
}
