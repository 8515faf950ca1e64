import { type CelLibrary, declare, method } from '../check/declarations.ts';
import { Regex } from '../regexp/regex.ts';
import { RegexError } from '../regexp/syntax.ts';
import { INT, listType, STRING } from '../types.ts';
import { CelList } from '../values/containers.ts';
import { type CelInt, EvalFailure } from '../values/value.ts';

function compile(pattern: string): Regex {
  try {
    return new Regex(pattern);
  } catch (error) {
    throw error instanceof RegexError ? new EvalFailure(`Illegal regex: ${error.message}`) : error;
  }
}

function findAll(text: string, pattern: string, limit: CelInt = -1): CelList {
  return CelList.of(compile(pattern).findAll(text, Number(limit)));
}

const TEXTS = listType(STRING);

export const REGEX_LIBRARY: CelLibrary = {
  functions: [
    declare(
      'find',
      method('string_find_string', { args: [STRING, STRING], result: STRING }, (text: string, pattern: string) =>
        compile(pattern).find(text),
      ),
    ),
    declare(
      'findAll',
      method('string_find_all_string', { args: [STRING, STRING], result: TEXTS }, findAll),
      method('string_find_all_string_int', { args: [STRING, STRING, INT], result: TEXTS }, findAll),
    ),
  ],
};
