//! The one escaper that makes any text visible for a question. Owns which characters count as invisible; must not know
//! where the text is shown.
