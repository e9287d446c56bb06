/** Sentences of the tab of ontologies. */

const counted = (count: number, one: string, more: string): string => `${count.toLocaleString('en')} ${count === 1 ? one : more}`;

export const WORDS = {
  add: 'Add ontology',
  needsOperator: 'Reading an ontology needs the role operator.',
  empty: 'Add an ontology, and its classes and properties are offered',
  emptyHint: 'Turtle, N-Triples, TriG, RDF/XML or JSON-LD; also compressed.',
  list: 'Ontologies',
  counts: (classes: number, properties: number): string =>
    `${counted(classes, 'class', 'classes')}, ${counted(properties, 'property', 'properties')}`,
  loaded: (name: string, counts: string): string => `Loaded ${name}: ${counts}`,
  removed: (name: string): string => `Removed ${name}`,
  remove: (name: string): string => `Remove ${name}`,
  reading: 'reading …',
  readingOf: (name: string): string => `Reading ${name}`,
  stop: (name: string): string => `Stop reading ${name}`,
  dismiss: 'Close',
  notKept: 'This browser keeps nothing: ontologies are there until the page is closed.',
  find: 'Find a class or property',
  terms: 'Classes and properties',
  found: (shown: number, all: number): string =>
    shown < all ? `${shown} of ${counted(all, 'term', 'terms')}: type more of a name` : counted(all, 'term', 'terms'),
  noneFound: (text: string): string => `No class or property is named like “${text}”.`,
  kinds: {
    class: 'class',
    property: 'property',
    'object-property': 'object property',
    'datatype-property': 'datatype property',
    'annotation-property': 'annotation property',
  },
  domain: (names: string): string => `of ${names}`,
  range: (names: string): string => `gives ${names}`,
  subClassOf: (names: string): string => `a kind of ${names}`,
  useHint: 'Select an entity to give it a class, an edge to give it a predicate.',
  asClass: (term: string, of: string): string => `Use ${term} as a class of ${of}`,
  asPredicate: (term: string, of: string): string => `Use ${term} as a predicate of ${of}`,
  use: 'Use',
  dialog: {
    title: 'Add an ontology',
    from: 'From',
    ways: { upload: 'this computer', url: 'an address' },
    file: 'Choose files …',
    url: 'Address or path',
    urlHint: 'http(s)://…, s3://…, or a path that the service may read',
    add: 'Add',
    cancel: 'Cancel',
    missing: 'Say where the ontology is.',
  },
} as const;
