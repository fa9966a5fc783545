use sapwood::Form;

/// What is to be said of columns, where there is something to say.
pub(crate) fn forms(tree: &sapwood::Tree, branches: &[usize]) -> Vec<Option<Form>> {
    branches.iter().map(|&b| tree.form(b).ok().filter(|f| *f != Form::Plain)).collect()
}
