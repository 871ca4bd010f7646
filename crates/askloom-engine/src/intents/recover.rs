//! After a crash: what hints say may be under way is finished, or made impossible.

use super::{ATTEMPTS, Blocks, Error, Fault, Hint, Intents, Rows, Terms, insist};

impl<T: Terms, B: Blocks<Terms = T>, R: Rows<T>> Intents<'_, B, R> {
    /// Goes through all hints once and gives their number. The writers may be alive: they and a sweep do each other no
    /// harm, but a writer whose attempt is fenced has to try again. So one that sweeps often should leave hints alone
    /// that it has not seen before.
    pub async fn sweep(&self) -> Result<usize, Error> {
        let mut count = 0;
        for bucket in 0..self.blocks.buckets() {
            for hint in insist(|| self.blocks.hints(bucket)).await? {
                self.blocks.part(self.recover(&hint)).await?;
                count += 1;
            }
        }
        Ok(count)
    }

    async fn recover(&self, hint: &Hint<T>) -> Result<(), Error> {
        for _ in 0..ATTEMPTS {
            let block = self.read(&hint.id).await?;
            // After each of these the block is read again: what was late may have come in between.
            if block.owed.contains_key(&hint.write) {
                self.finish(&hint.id, hint.write, block).await?;
            } else if block.is_closed_by(hint.write) && !self.does(Fault::ClosedForEver) {
                match block.closing.as_ref().is_some_and(|closing| closing.at == hint.id) {
                    true => self.reopen(&hint.id, hint.write).await?,
                    false => self.resolve(&hint.id, &block).await?,
                }
            } else if block.revision == hint.base && !self.does(Fault::FenceSkipped) {
                self.fence(&hint.id, &block).await;
            } else {
                return self.close_hints(&hint.id, std::slice::from_ref(hint)).await;
            }
        }
        Err(Error::Conflict)
    }
}
