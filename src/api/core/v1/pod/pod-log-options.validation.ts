import { FieldError, Path } from '#machinery';
import type { PodLogOptions } from './pod-log-options.ts';

const STREAMS = ['All', 'Stdout', 'Stderr'];

/** `allowsStream`: kubelets accept `stream`; in the API server its feature gate is off. */
export function validatePodLogOptions(options: PodLogOptions, { allowsStream }: { readonly allowsStream: boolean }): FieldError[] {
  const { tailLines, limitBytes } = options;
  const errors: FieldError[] = [];
  if (tailLines !== undefined && tailLines < 0) {
    errors.push(FieldError.invalid(Path.of('tailLines'), tailLines, 'must be greater than or equal to 0'));
  }
  if (limitBytes !== undefined && limitBytes < 1) {
    errors.push(FieldError.invalid(Path.of('limitBytes'), limitBytes, 'must be greater than 0'));
  }
  return [...errors, ...validateSince(options), ...validateStream(options, allowsStream)];
}

function validateSince({ sinceSeconds, sinceTime }: PodLogOptions): FieldError[] {
  if (sinceSeconds === undefined) return [];
  if (sinceTime !== undefined) {
    return [FieldError.forbidden(Path.of(''), 'at most one of `sinceTime` or `sinceSeconds` may be specified')];
  }
  return sinceSeconds < 1 ? [FieldError.invalid(Path.of('sinceSeconds'), sinceSeconds, 'must be greater than 0')] : [];
}

function validateStream({ stream }: PodLogOptions, allowsStream: boolean): FieldError[] {
  if (stream === undefined) return [];
  if (!allowsStream) return [FieldError.forbidden(Path.of('stream'), 'may not be specified')];
  return stream === '' || STREAMS.includes(stream) ? [] : [FieldError.notSupported(Path.of('stream'), stream, STREAMS)];
}
