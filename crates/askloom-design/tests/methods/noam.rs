use crate::{EXAMPLES, decided, example, model, propose};
use askloom_design::method::Method;

#[test]
fn show() {
    for name in EXAMPLES {
        let proposal = propose(Method::Noam, &example(name));
        println!("== {name}");
        for d in &proposal.decisions {
            println!("{}: {} [{}]", d.about, d.says, d.source);
        }
    }
}
