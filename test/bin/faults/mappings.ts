/** One mapping in three formats: a person with an id and a name. Line numbers matter: messages name them. */

const mapping = (
  formulation: string,
  path: string,
  iterator: string,
  id: string,
  name: string,
): string => `@prefix rml: <http://w3id.org/rml/> .
@prefix ex: <http://example.com/> .
<#Person> a rml:TriplesMap ;
  rml:logicalSource [ a rml:LogicalSource ; rml:referenceFormulation rml:${formulation} ;${iterator}
    rml:source [ a rml:RelativePathSource ; rml:root rml:CurrentWorkingDirectory ; rml:path "${path}" ] ] ;
  rml:subjectMap [ rml:template "http://example.com/person/{${id}}" ] ;
  rml:predicateObjectMap [ rml:predicate ex:name ; rml:objectMap [ rml:reference "${name}" ] ] .
`;

export const CSV = mapping('CSV', 'people.csv', '', 'id', 'name');
export const JSON_PATH = mapping('JSONPath', 'people.json', ' rml:iterator "$.people[*]" ;', '$.id', '$.name');
export const XPATH = mapping('XPath', 'people.xml', ' rml:iterator "/people/person" ;', '@id', 'name');

/** The mapping with a declared encoding. */
export const encoded = (text: string, encoding: string): string => text.replace(/(rml:path "[^"]+")/, `$1 ; rml:encoding rml:${encoding}`);

/** The mapping with the ids as subjects. */
export const idAsIri = (text: string): string => text.replace(/rml:template "[^"]*\{(.*)\}"/, 'rml:reference "$1"');

/** The statements of a person. */
export const statement = (id: string, name: string): string => `<http://example.com/person/${id}> <http://example.com/name> "${name}" .\n`;
