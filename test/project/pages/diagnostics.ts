/** `docs/diagnostics.md`, made of the table of codes. Each example is read, so its messages are those that users see. */
import { convertMapping } from '../../../src/mapping/convert/convert.ts';
import { DIAGNOSTIC_CODES, type DiagnosticCode } from '../../../src/mapping/model/codes.ts';
import { formatDiagnostic } from '../../../src/mapping/model/diagnostics.ts';
import { readMapping } from '../../../src/mapping/parse/read.ts';

/** The first line of every example, which the page does not show. */
const FIRST_LINE = [
  '@prefix rml: <http://w3id.org/rml/> . @prefix rr: <http://www.w3.org/ns/r2rml#> . @prefix ql: <http://semweb.mmlab.be/ns/ql#> .',
  '@prefix older: <http://semweb.mmlab.be/ns/rml#> . @prefix d2rq: <http://www.wiwiss.fu-berlin.de/suhl/bizer/D2RQ/0.1#> .',
  '@prefix grel: <http://users.ugent.be/~bjdmeest/function/grel.ttl#> . @prefix ex: <http://example.com/> .',
  '@prefix sd: <http://www.w3.org/ns/sparql-service-description#> . @prefix td: <https://www.w3.org/2019/wot/td#> .',
  '@prefix hctl: <https://www.w3.org/2019/wot/hypermedia#> . @prefix htv: <http://www.w3.org/2011/http#> . @prefix qw: <http://w3id.org/quadmill/web#> .',
  '<#people> rml:source [ a rml:RelativePathSource ; rml:path "people.csv" ] ; rml:referenceFormulation rml:CSV .',
].join(' ');

/** An object map on a triples map over `<#people>`. */
const object = (map: string): string => `<#Person> rml:logicalSource <#people> ; rml:subjectMap [ rml:template "http://example.com/{id}" ] ;
  rml:predicateObjectMap [ rml:predicate ex:name ; rml:objectMap ${map} ] .`;

/** A triples map whose subject map has further properties. */
const subject = (properties: string): string => `<#Person> rml:logicalSource <#people> ;
  rml:subjectMap [ ${properties} ] .`;

/** A triples map over a JSON file. */
const json = (iterator: string, template: string): string => `<#Person> rml:logicalSource [
    rml:source [ a rml:RelativePathSource ; rml:path "people.json" ] ;
    rml:referenceFormulation rml:JSONPath ; rml:iterator "${iterator}" ] ;
  rml:subjectMap [ rml:template "${template}" ] .`;

/** A triples map over a database. */
const table = (source: string): string => `<#Person> rml:logicalSource [ ${source} ] ; rml:subject ex:it .`;

const view = (
  fields: string,
): string => `<#Person> rml:logicalSource <#view> ; rml:subjectMap [ rml:template "http://example.com/{name}" ] .
<#view> rml:viewOn <#people> ;
  ${fields} .`;

/** Examples in YARRRML, of `quadmill convert --to rml`. */
const OF_CONVERSION = {
  'changed-meaning': `mappings:
  person:
    sources: [people.csv~csv]
    s: http://example.com/$(id)`,
};

/** Examples in YARRRML. */
const OF_YARRRML = {
  'duplicate-key': `mappings:
  person:
    sources: [people.csv~csv]
    s: ex:$(id)
    subjects: ex:$(name)`,
  'text-for-reference': `mappings:
  person:
    sources: [["people.json~jsonpath", "$[*]"]]
    s: http://example.com/$(id)
    po: [[http://example.com/name, $.name]]`,
  'too-large': `authors: ${'['.repeat(101)}Ada${']'.repeat(101)}`,
  'unknown-key': `mappings:
  person:
    soruces: [people.csv~csv]
    sources: [people.csv~csv]
    s: http://example.com/$(id)`,
  'unknown-name': `mappings:
  person:
    sources: people
    s: http://example.com/$(id)`,
  'unknown-prefix': `mappings:
  person:
    sources: [people.csv~csv]
    s: ex:$(id)`,
};

/** By code: a mapping that gives a diagnostic of this code, and as few others as possible. */
const EXAMPLES: Readonly<Record<Exclude<DiagnosticCode, keyof typeof OF_YARRRML | keyof typeof OF_CONVERSION>, string>> = {
  circle: view(`rml:field [ rml:fieldName "name" ; rml:reference "name" ] ;
  rml:leftJoin [ rml:parentLogicalView <#view> ; rml:joinCondition [ rml:child "name" ; rml:parent "name" ] ]`),
  contradiction: object('[ rml:reference "name" ; rml:language "en" ; rml:datatype ex:text ]'),
  'ignored-term-type': object('[ rml:constant "Ada" ; rml:termType rml:IRI ]').replace('"Ada"', 'ex:ada').replace('rml:IRI', 'rml:Literal'),
  'ill-typed': object('[ rml:constant "abc" ; rml:datatype ex:text ]').replace('ex:text', '<http://www.w3.org/2001/XMLSchema#integer>'),
  'incomplete-gather-map': object('[ rml:gather ( [ rml:reference "name" ] ) ]'),
  'incomplete-annotation': view(`rml:field [ rml:fieldName "name" ; rml:reference "name" ] ;
  rml:structuralAnnotation [ a rml:UniqueAnnotation ]`),
  'incomplete-input': object(`[
    rml:functionExecution [ rml:function grel:toUpperCase ; rml:input [ rml:inputValueMap [ rml:reference "name" ] ] ] ]`),
  'incomplete-join': object('[ rml:parentTriplesMap <#Person> ; rml:joinCondition [ rml:child "boss" ] ]'),
  'incomplete-paging': table(`rml:source [ a td:Thing ; td:hasForm [ hctl:hasTarget "https://example.com/people" ;
    qw:paging [ a qw:Cursor ; qw:reference "$.next" ] ] ] ; rml:referenceFormulation rml:JSONPath ; rml:iterator "$.people[*]"`),
  'invalid-call': object('[ rml:functionExecution [ rml:function grel:toUpperCase ] ]'),
  'legacy-source': table('rml:source "people.csv" ; rml:referenceFormulation rml:CSV'),
  'malformed-iri': subject('rml:template "http://example.com/a person/{id}"'),
  'malformed-language': object('[ rml:reference "name" ; rml:language "english!" ]'),
  'malformed-path': json('$.people[*', 'http://example.com/{$.id}'),
  'malformed-regexp': json("$.people[?match(@.id, '[a-z]+?')]", 'http://example.com/{$.id}'),
  'malformed-template': subject('rml:template "http://example.com/{id"'),
  'malformed-uri': subject('rml:template "http://example.com/Zoë/{id}" ; rml:termType rml:URI'),
  'misplaced-term': `<#Person> rml:logicalSource <#people> ; rml:template "http://example.com/{id}" ;
  rml:subjectMap [ rml:template "http://example.com/{id}" ] .`,
  'missing-expression': object('[ rml:datatype ex:text ]'),
  'missing-field-name': view('rml:field [ rml:fieldName "name" ; rml:reference "name" ] , [ rml:reference "age" ]'),
  'missing-function': object('[ rml:functionExecution [ rml:input [ rml:parameter grel:valueParam ; rml:inputValue "a" ] ] ]'),
  'missing-iterator': table('rml:referenceFormulation rml:SQL2008Table'),
  'missing-jdbc-dsn': `${table('rml:source <#db> ; rml:referenceFormulation rml:SQL2008Table ; rml:iterator "people"')}
<#db> a d2rq:Database ; d2rq:username "reader" .`,
  'missing-join-condition': `${object('[ rml:parentTriplesMap <#City> ]')}
<#City> rml:logicalSource [ rml:source [ rml:path "cities.csv" ] ] ; rml:subjectMap [ rml:template "http://example.com/{city}" ] .`,
  'missing-header': table(`rml:source [ a td:Thing ; td:hasForm [ hctl:hasTarget "https://example.com/people" ;
  htv:headers ( [ htv:fieldName "Accept-Language" ] ) ] ] ; rml:referenceFormulation rml:JSONPath`),
  'missing-logical-source': '<#Person> a rml:TriplesMap ; rml:subjectMap [ rml:template "http://example.com/{id}" ] .',
  'missing-namespace': table(`rml:source [ rml:path "people.xml" ] ; rml:iterator "/p:people/p:person" ;
  rml:referenceFormulation [ a rml:XPathReferenceFormulation ; rml:namespace [ rml:namespacePrefix "p" ] ]`),
  'missing-object': `<#Person> rml:logicalSource <#people> ; rml:subject ex:it ;
  rml:predicateObjectMap [ rml:predicate ex:name ] .`,
  'missing-parent-view': view(`rml:field [ rml:fieldName "name" ; rml:reference "name" ] ;
  rml:leftJoin [ rml:joinCondition [ rml:child "name" ; rml:parent "name" ] ; rml:field [ rml:fieldName "age" ; rml:reference "age" ] ]`),
  'missing-path': table('rml:source [ a rml:RelativePathSource ] ; rml:referenceFormulation rml:CSV'),
  'missing-predicate': `<#Person> rml:logicalSource <#people> ; rml:subject ex:it ;
  rml:predicateObjectMap [ rml:objectMap [ rml:reference "name" ] ] .`,
  'missing-reference-formulation': table('rml:source [ a rml:RelativePathSource ; rml:path "people.data" ]'),
  'missing-source': table('rml:referenceFormulation rml:CSV'),
  'missing-subject-map': `<#Person> rml:logicalSource <#people> ;
  rml:predicateObjectMap [ rml:predicate ex:name ; rml:objectMap [ rml:reference "name" ] ] .`,
  'missing-table': '<#Person> rr:logicalTable [ rr:sqlVersion rr:SQL2008 ] ; rr:subjectMap [ rr:template "http://example.com/{id}" ] .',
  'missing-target': subject('rml:template "http://example.com/{id}" ; rml:logicalTarget [ a rml:LogicalTarget ]'),
  'name-collision': view('rml:field [ rml:fieldName "name" ; rml:reference "name" ] , [ rml:fieldName "name" ; rml:reference "alias" ]'),
  'near-namespace': `@prefix r2rml: <http://www.w3.org/ns/r2rml/> .
<#Person> rml:logicalSource <#people> ; r2rml:subjectMap [ rml:template "http://example.com/{id}" ] .`,
  'no-database': table('rml:source <#people> ; rml:referenceFormulation rml:SQL2008Table ; rml:iterator "people"'),
  'no-triples-map': '<#Person> a ex:Person .',
  'not-quoted': '<#Person> a rml:NonAssertedTriplesMap ; rml:logicalSource <#people> ; rml:subject ex:it .',
  'not-supported': table(`rml:source [ a <http://www.w3.org/ns/dcat#Catalog> ] ; rml:referenceFormulation rml:CSV`),
  'older-term': `<#Person> older:logicalSource [ older:source "people.json" ; older:referenceFormulation ql:JsonPath ; older:iterator "$.people[*]" ] ;
  rr:subject ex:it .`,
  'prefix-in-text': subject('rml:template "ex:{id}"'),
  'relative-iri': object('[ rml:constant "ada" ; rml:termType rml:IRI ]'),
  secret: table(
    'rml:source [ a sd:Service ; sd:endpoint <https://user:password@example.com/sparql> ] ; rml:iterator "SELECT * { ?s ?p ?o }"',
  ),
  syntax: `<#Person> rml:logicalSource <#people>
  rml:subject ex:it .`,
  'target-ending': subject(
    'rml:template "http://example.com/{id}" ; rml:logicalTarget [ rml:target [ a rml:FilePath ; rml:path "people.ttl.gz" ] ]',
  ),
  'target-not-unique': view(`rml:field [ rml:fieldName "name" ; rml:reference "name" ] , [ rml:fieldName "boss" ; rml:reference "boss" ] ;
  rml:structuralAnnotation [ a rml:ForeignKeyAnnotation ; rml:onFields ( "boss" ) ; rml:targetView <#view> ; rml:targetFields ( "name" ) ]`),
  'text-for-iri': `<#Person> rml:logicalSource <#people> ; rml:subject ex:it ;
  rml:predicateObjectMap [ rml:predicate "http://example.com/name" ; rml:objectMap [ rml:reference "name" ] ] .`,
  'too-many': subject('rml:template "http://example.com/{id}" ; rml:reference "id"'),
  'undefined-node': '<#Person> rml:logicalSource <#people> ; rml:subjectMap <#subject> .',
  'parent-array': json('$.people[*]', 'http://example.com/{$^.country}/{$.id}'),
  'unknown-field': view('rml:field [ rml:fieldName "Name" ; rml:reference "name" ]'),
  'unknown-function': object('[ rml:functionExecution [ rml:function grel:toUperCase ] ]'),
  'unknown-language': object('[ rml:reference "name" ; rml:language "spanish" ]'),
  'unknown-parent': object('[ rml:parentTriplesMap <#Persn> ; rml:joinCondition [ rml:child "boss" ; rml:parent "id" ] ]'),
  'unknown-sql-version': '<#Person> rr:logicalTable [ rr:tableName "people" ; rr:sqlVersion ex:SQL1992 ] ; rr:subject ex:it .',
  'unknown-term': subject('rml:tmplate "http://example.com/{id}"'),
  'unused-formulation': `<#Person> older:logicalSource [ older:source <#db> ; older:query "SELECT id FROM people" ; older:referenceFormulation ql:XPath ] ;
  rr:subject ex:it .
<#db> a d2rq:Database ; d2rq:jdbcDSN "jdbc:postgresql://localhost/shop" .`,
  'unused-inverse': `<#Person> rr:logicalTable [ rr:tableName "people" ] ;
  rr:subjectMap [ rr:template "http://example.com/{id}" ; rr:inverseExpression "id" ] .`,
  'unused-iterator': table('rml:source [ a rml:RelativePathSource ; rml:path "people.csv" ] ; rml:iterator "person"'),
  'unused-table': `<#Person> older:logicalSource [ older:query "SELECT id FROM people" ; rr:tableName "people" ] ;
  rr:subject ex:it .`,
  'unused-term': `${table('rml:source <#db> ; rml:referenceFormulation rml:SQL2008Table ; rml:iterator "people"')}
<#db> a d2rq:Database ; d2rq:jdbcDSN "jdbc:postgresql://localhost/shop" ; d2rq:fetchSize "500" .`,
  'wrong-term-type': subject('rml:template "{id}" ; rml:termType rml:Literal'),
  'wrong-value': object('[ rml:reference <name> ]'),
};

export async function diagnosticsPage(): Promise<string> {
  const codes = Object.entries(DIAGNOSTIC_CODES);
  const sections = await Promise.all(codes.map(([code, { severity, summary }]) => section(code as DiagnosticCode, severity, summary)));
  return `# Diagnostics

What \`quadmill check\` says about a mapping, by code. \`npm run docs\` makes this page from the table in \`src/mapping/model/codes.ts\`, and the messages
below are those that the examples give.

- An **error** prevents a run. A **warning** does not: it names what has no effect, or what was read in another way than it is written.
- All errors are reported at once, sorted by document, line and column. What is wrong with the syntax of a document, or with the
  keys of YARRRML, is reported alone.
- A message names what was found and what was expected. The indented line below it says what to do.
- Codes are stable. Messages may change: they are for people.

## Formats

\`quadmill check --format text\` is for people and editors, and the default. Exit codes are the same for all formats: 0 without errors, 2 with errors.

**\`--format json\`** prints an array with an object for each diagnostic:

| member | value |
| --- | --- |
| \`severity\` | \`error\` or \`warning\` |
| \`code\` | one of the codes below |
| \`document\` | the mapping, as the command line names it |
| \`line\`, \`column\` | 1-based position; a column is a UTF-16 code unit |
| \`key\` | in YARRRML the way of keys to the value, \`mappings.person.po[0]\`, or \`null\` |
| \`message\` | what was found and what was expected |
| \`hint\` | what to do, or \`null\` |

**\`--format sarif\`** prints a log of [SARIF 2.1.0](https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html), which code scanning services
show beside the lines of a change. On GitHub, a job of a workflow uploads it:

\`\`\`yaml
- run: npx quadmill check mappings/*.ttl --format sarif > quadmill.sarif
- uses: github/codeql-action/upload-sarif@v3
  if: always()
  with: { sarif_file: quadmill.sarif }
\`\`\`

## Codes

The first line of each example in Turtle is not shown. It declares the usual prefixes, and \`<#people>\`, a logical source of \`people.csv\`.

${sections.join('\n\n')}
`;
}

const SEVERITIES = { error: 'Error', warning: 'Warning', either: 'Error or warning' } as const;

async function section(code: DiagnosticCode, severity: keyof typeof SEVERITIES, summary: string): Promise<string> {
  return `### \`${code}\`

${SEVERITIES[severity]}. ${summary.replace('functions.md', '[functions.md](functions.md)')}

\`\`\`${exampleOf(code).language}
${exampleOf(code).text}
\`\`\`

\`\`\`
${await messagesOf(code)}
\`\`\``;
}

const exampleOf = (code: DiagnosticCode): { readonly language: 'yaml' | 'turtle'; readonly text: string } =>
  code in OF_YARRRML || code in OF_CONVERSION
    ? { language: 'yaml', text: { ...OF_YARRRML, ...OF_CONVERSION }[code as keyof typeof OF_YARRRML] }
    : { language: 'turtle', text: EXAMPLES[code as keyof typeof EXAMPLES] };

async function messagesOf(code: DiagnosticCode): Promise<string> {
  const { language, text } = exampleOf(code);
  const document =
    language === 'yaml' ? { name: 'mapping.yml', text: `${text}\n` } : { name: 'mapping.ttl', text: `${FIRST_LINE}\n${text}\n` };
  const options = { baseIri: 'http://example.com/base/' };
  const { diagnostics } = code in OF_CONVERSION ? await convertMapping([document], 'rml', options) : await readMapping([document], options);
  if (!diagnostics.some((one) => one.code === code)) {
    throw new Error(`The example of ${code} gives ${diagnostics.map((one) => one.code).join(', ') || 'nothing'}`);
  }
  return diagnostics.map(formatDiagnostic).join('\n');
}
