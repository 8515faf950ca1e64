/**
 * The location of a problem in an object. Validators create a path for every field and print almost none, so a path links to its parent and the text
 * is built on demand.
 */
export class Path {
  /** No path: prints as upstream's nil path; its children are roots. */
  static readonly none = new Path(undefined, undefined);

  private constructor(
    private readonly parent: Path | undefined,
    private readonly step: string | Subscript | undefined,
  ) {}

  /** A root path: `Path.of('metadata', 'name')` is `metadata.name`. */
  static of(...names: readonly string[]): Path {
    // bounded: spread lists are names in the source
    return Path.none.child(...names);
  }

  child(...names: readonly string[]): Path {
    let path: Path = this;
    for (const name of names) path = new Path(path, name);
    return path;
  }

  /** An element of a list: `ports[2]`. */
  index(index: number): Path {
    return new Path(this, new Subscript(index));
  }

  /** A member of a map: `labels[app]`. */
  key(key: string): Path {
    return new Path(this, new Subscript(key));
  }

  /** The names, indices and keys on the way from the root. */
  keys(): readonly (string | number)[] {
    if (this.parent === undefined || this.step === undefined) return [];
    return [...this.parent.keys(), this.step instanceof Subscript ? this.step.key : this.step];
  }

  toString(): string {
    if (this.step === undefined) return '<nil>';
    let text = '';
    for (let path: Path = this; path.parent !== undefined; path = path.parent) {
      const atRoot = path.parent.parent === undefined;
      text = stepText(path.step, atRoot) + text;
    }
    return text;
  }

  toJSON(): string {
    return this.toString();
  }
}

class Subscript {
  constructor(readonly key: string | number) {}
}

function stepText(step: string | Subscript | undefined, atRoot: boolean): string {
  if (step instanceof Subscript) return `[${step.key}]`;
  return atRoot ? (step ?? '') : `.${step ?? ''}`;
}
