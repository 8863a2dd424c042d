//! Search agents and the evaluators they use.
