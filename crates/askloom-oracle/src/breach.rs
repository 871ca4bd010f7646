//! References that the model promises to lead somewhere, and that do not.

use crate::state::State;
use crate::view::View;
use askloom_model::{ClassId, Conceptual, EndId, Identity, RelationshipKind};
use jiff::Timestamp;

/// A broken promise of the application: a reference that designs rely on names what does not exist.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Breach {
    /// The aggregate that holds the reference, by the topmost class of its hierarchy.
    pub root: ClassId,
    pub holder: Identity,
    pub end: EndId,
    pub target: Identity,
}

impl State {
    /// Every reference that designs rely on and that names what does not exist at `now`.
    #[must_use]
    pub fn breaches(&self, conceptual: &Conceptual, now: Timestamp) -> Vec<Breach> {
        let live = self.live(conceptual, now);
        let view = View::new(conceptual, &live);
        let mut found = Vec::new();
        for (end, row) in conceptual.ends.iter() {
            let reference = row.stored && row.kind != RelationshipKind::Composition;
            if !reference || !conceptual.is_relied_on(end) {
                continue;
            }
            for node in view.extent(row.class) {
                for target in view.links_of(node, end) {
                    if view.find(row.target, &target).is_none() {
                        let (root, holder) = (node.address.top, node.address.root.clone());
                        found.push(Breach { root, holder, end, target });
                    }
                }
            }
        }
        found
    }
}
