export { JsonPath, jsonPathText } from './json-path.ts';
export { JsonPathError } from './parse-json-path.ts';
