/** Every code of a diagnostic, in one table. `quadmill check --format` prints it as rules, and `docs/diagnostics.md` is made of it. */

interface CodeRow {
  /** `either`: an error in current RML, and a warning where older documents commonly have it. */
  readonly severity: 'error' | 'warning' | 'either';
  /** What is wrong, and why it matters, in sentences. */
  readonly summary: string;
}

export const DIAGNOSTIC_CODES = {
  'changed-meaning': {
    severity: 'either',
    summary:
      'A mapping that `quadmill convert` writes means something else in the other language. An error ends the conversion; a warning names what the languages treat in different ways.',
  },
  circle: {
    severity: 'error',
    summary:
      'A logical view is made of itself, a function execution is an argument of itself, triples quote themselves, or a collection gathers itself: there is nothing to begin with.',
  },
  contradiction: {
    severity: 'either',
    summary: 'Two statements exclude each other, such as a language and a datatype on one literal.',
  },
  'duplicate-key': {
    severity: 'error',
    summary: 'YARRRML: a map has a key twice, or a key and its short form.',
  },
  'ignored-term-type': {
    severity: 'warning',
    summary: 'A term type stands on a constant, which is a term already and keeps its own type.',
  },
  'ill-typed': {
    severity: 'warning',
    summary: 'The text of a constant is no value of its datatype, such as "abc" of xsd:integer. RDF allows it, so it is written as it is.',
  },
  'incomplete-annotation': {
    severity: 'error',
    summary: 'A structural annotation of a logical view does not say what it promises, of which fields, or of which target.',
  },
  'incomplete-gather-map': {
    severity: 'error',
    summary: 'A gather map lacks what it gathers or as what, or its properties stand on a map that gathers nothing.',
  },
  'incomplete-input': {
    severity: 'error',
    summary: 'An argument of a function lacks its parameter or its value.',
  },
  'incomplete-join': {
    severity: 'error',
    summary: 'A join condition lacks its child or its parent, or a join of views lacks a condition.',
  },
  'incomplete-paging': {
    severity: 'error',
    summary:
      'The paging of a Web API does not say where the next page is or which is the last one, or has a property that does not fit it.',
  },
  'invalid-call': {
    severity: 'error',
    summary:
      'A function is called with a parameter or for a return that it does not have, without one that it needs, or with a constant that it cannot take.',
  },
  'legacy-source': {
    severity: 'warning',
    summary: 'The source of current RML is a text, as in older RML. It is read as the path of a file.',
  },
  'malformed-iri': {
    severity: 'error',
    summary: 'The constant text of an IRI holds a character that no IRI may have. Every IRI made of it would be invalid.',
  },
  'malformed-language': {
    severity: 'error',
    summary: 'A text is not a language tag of BCP 47.',
  },
  'malformed-path': {
    severity: 'error',
    summary: 'An iterator or a reference of a JSON or XML source is not valid JSONPath or XPath.',
  },
  'malformed-regexp': {
    severity: 'warning',
    summary: 'The regular expression of a filter in JSONPath is not one that JSONPath has (I-Regexp), so it matches nothing.',
  },
  'malformed-template': {
    severity: 'either',
    summary:
      'A template cannot be read: a brace is not closed, not opened or wrongly escaped. A warning where a closing parenthesis of YARRRML stands behind a reference and closes nothing.',
  },
  'malformed-uri': {
    severity: 'warning',
    summary: 'The constant text of a URI has characters outside of ASCII. They are written percent-encoded.',
  },
  'misplaced-term': {
    severity: 'either',
    summary: 'A property or a class of the vocabulary stands on a node where it has no meaning.',
  },
  'missing-expression': {
    severity: 'error',
    summary: 'A term map has no template, reference, constant or function, so it gives no terms.',
  },
  'missing-field-name': {
    severity: 'error',
    summary: 'A field of a logical view has no name by which references could mean it.',
  },
  'missing-function': {
    severity: 'error',
    summary: 'A function execution does not name a function.',
  },
  'missing-iterator': {
    severity: 'error',
    summary: 'A table, a query or an iterable field is given by an iterator, and there is none.',
  },
  'missing-jdbc-dsn': {
    severity: 'error',
    summary: 'A database is described without its JDBC URL.',
  },
  'missing-join-condition': {
    severity: 'either',
    summary:
      'A referencing object map or a star map has no join condition, and child and parent read different records. Older RML pairs each record with each where a map refers to a parent; current RML and quoted triples require the condition.',
  },
  'missing-header': {
    severity: 'error',
    summary: 'A header of a form of the Web of Things lacks its name or its value.',
  },
  'missing-logical-source': {
    severity: 'error',
    summary: 'A triples map does not say what it reads.',
  },
  'missing-namespace': {
    severity: 'error',
    summary: 'A namespace for XPath lacks its prefix or its IRI.',
  },
  'missing-object': {
    severity: 'error',
    summary: 'A predicate object map has no object.',
  },
  'missing-parent-view': {
    severity: 'error',
    summary: 'A join of logical views does not name the view to join with.',
  },
  'missing-path': {
    severity: 'error',
    summary: 'A source does not say where it is: it has no path, no URL, or no endpoint.',
  },
  'missing-predicate': {
    severity: 'error',
    summary: 'A predicate object map has no predicate.',
  },
  'missing-reference-formulation': {
    severity: 'error',
    summary: 'A logical source has no reference formulation, and the name of the file does not show its format.',
  },
  'missing-source': {
    severity: 'error',
    summary: 'A logical source has no source.',
  },
  'missing-subject-map': {
    severity: 'error',
    summary: 'A triples map does not say what the subjects of its statements are.',
  },
  'missing-table': {
    severity: 'error',
    summary: 'A logical source over a database names neither a table nor a query.',
  },
  'missing-target': {
    severity: 'error',
    summary: 'A logical target does not say where its statements go.',
  },
  'name-collision': {
    severity: 'error',
    summary: 'Two fields of a logical view have one name.',
  },
  'near-namespace': {
    severity: 'either',
    summary:
      'A term has a namespace that is nearly one that mappings use: by https:, without its #, with a / in its place, or of a module of RML, as drafts had it. An error for a vocabulary of RML, a warning for those of datatypes and of RDF.',
  },
  'no-database': {
    severity: 'error',
    summary: 'A logical source asks a database, and its source is not described as one.',
  },
  'no-triples-map': {
    severity: 'error',
    summary: 'The documents describe no triples map at all. Often the namespace is misspelt.',
  },
  'not-quoted': {
    severity: 'either',
    summary: 'A triples map is not asserted, and no other one quotes it, so it makes nothing.',
  },
  'not-supported': {
    severity: 'error',
    summary: 'This version does not support the feature. Nothing of it is ignored in silence.',
  },
  'older-term': {
    severity: 'warning',
    summary: 'A term or a spelling is from a draft or another vocabulary. It is read as the one that the message names.',
  },
  'parent-array': {
    severity: 'warning',
    summary: 'A reference to a parent stops at an array, which has no members.',
  },
  'prefix-in-text': {
    severity: 'either',
    summary:
      'A prefixed name is in quotes or in angle brackets, where Turtle replaces no prefix: the prefix would be the scheme of the IRI. An error where the document declares the prefix and the text becomes an IRI. To use a scheme of that name, give the prefix another name.',
  },
  'relative-iri': {
    severity: 'warning',
    summary: 'A constant IRI is relative. It gets the base IRI in front.',
  },
  secret: {
    severity: 'error',
    summary:
      'The description of a source on the web holds a login: in its URL, in a parameter of it, or in a header. All readers of the mapping would know it; the option `SOURCE_LOGINS` gives logins.',
  },
  syntax: {
    severity: 'either',
    summary:
      'The document is not valid Turtle, or not valid YAML. It is read no further, so other mistakes in it are not found yet. A warning where it is read as what is meant: blanks in front of the colon of a prefix.',
  },
  'text-for-iri': {
    severity: 'warning',
    summary: 'A text stands where only an IRI may stand. It is read as one.',
  },
  'text-for-reference': {
    severity: 'either',
    summary:
      'A text has the form of a reference of another language, such as `$(id)`, `$id`, `%id%` or `[id]` in RML, and `$id`, `{id}` or a JSONPath in YARRRML, so every record gets it as it stands. An error for a template of IRIs that has no reference.',
  },
  'target-ending': {
    severity: 'warning',
    summary:
      'The file of a logical target has the ending of a serialization or a compression that the target does not declare. It is written as N-Quads, and not compressed.',
  },
  'target-not-unique': {
    severity: 'error',
    summary: 'A foreign key refers to fields of a logical view that are not promised to be unique.',
  },
  'too-large': {
    severity: 'error',
    summary:
      'YARRRML: a document is nested too deeply, or its aliases expand to too many values, or it means far more statements than it has values.',
  },
  'too-many': {
    severity: 'either',
    summary:
      'A node has two values where it may have one, or two properties of which it may have one. A warning where two documents of a folder describe a node in the same words: that counts once.',
  },
  'undefined-node': {
    severity: 'error',
    summary: 'A statement leads to a node that no document describes.',
  },
  'unknown-field': {
    severity: 'error',
    summary: 'A reference names a field that the logical view does not have, or a record, which has no value.',
  },
  'unknown-function': {
    severity: 'error',
    summary: 'There is no function with this IRI. functions.md lists all.',
  },
  'unknown-key': {
    severity: 'error',
    summary: 'YARRRML: there is no such key in this place.',
  },
  'unknown-language': {
    severity: 'warning',
    summary: 'A language tag is well-formed, but names no registered language.',
  },
  'unknown-name': {
    severity: 'error',
    summary: 'YARRRML: a name of a source, target or mapping that no document of the mapping has.',
  },
  'unknown-parent': {
    severity: 'error',
    summary: 'A referencing object map names a parent, or a star map quotes something, that is not a triples map of the mapping.',
  },
  'unknown-prefix': {
    severity: 'error',
    summary: 'YARRRML: an IRI has a prefix that the document does not declare.',
  },
  'unknown-sql-version': {
    severity: 'either',
    summary: 'The SQL version is none that R2RML knows. Queries go to the database as they are.',
  },
  'unknown-term': {
    severity: 'either',
    summary: 'The vocabulary has no such property, class or individual.',
  },
  'unused-formulation': {
    severity: 'warning',
    summary: 'A reference formulation for documents stands on a logical source over a database, where it has no effect.',
  },
  'unused-inverse': {
    severity: 'warning',
    summary: 'An inverse expression refers to no column.',
  },
  'unused-iterator': {
    severity: 'warning',
    summary: 'An iterator stands where the records are rows, and has no effect.',
  },
  'unused-table': {
    severity: 'warning',
    summary: 'A table stands beside a query and has no effect.',
  },
  'unused-term': {
    severity: 'warning',
    summary: 'A property has no effect in this place.',
  },
  'wrong-term-type': {
    severity: 'error',
    summary: 'A term map makes terms that RDF does not allow in its position, such as a literal as a subject.',
  },
  'wrong-value': {
    severity: 'error',
    summary: 'A property has a value of a kind that it does not take.',
  },
} as const satisfies Readonly<Record<string, CodeRow>>;

export type DiagnosticCode = keyof typeof DIAGNOSTIC_CODES;
