import type { core } from '#api';
import { type Labels, parseLabelSelector, Selector } from '#machinery';

/** The target's selector is invalid or ambiguous. */
export class TargetSelectorError extends Error {
  override readonly name = 'TargetSelectorError';

  constructor(
    message: string,
    /** Reasons of the event and of the condition, and its message. */
    readonly eventReason: string,
    readonly conditionReason: string,
    readonly conditionMessage = message,
  ) {
    super(message);
  }
}

/** The selectors of all autoscalers: two that select the same pods would conflict. */
export class TargetSelectors {
  /** By the autoscaler's key. */
  readonly #selectors = new Map<string, Selector>();

  /** The number of autoscalers. */
  get size(): number {
    return this.#selectors.size;
  }

  add(key: string): void {
    if (!this.#selectors.has(key)) this.#selectors.set(key, Selector.nothing);
  }

  delete(key: string): void {
    this.#selectors.delete(key);
  }

  /** Records an autoscaler's selector. Throws a TargetSelectorError if it is invalid. */
  parse(key: string, text: string): Selector {
    if (text === '') {
      const detail = "the HPA target's scale is missing a selector";
      throw new TargetSelectorError('selector is required', 'SelectorRequired', 'InvalidSelector', detail);
    }
    const selector = parsed(text);
    if (this.#selectors.has(key)) this.#selectors.set(key, selector);
    return selector;
  }

  /** Throws a TargetSelectorError when another autoscaler selects these pods too. */
  checkAlone(namespace: string, text: string, pods: readonly core.Pod[]): void {
    const labels = pods.map(({ metadata }) => metadata.labels);
    const keys = [...this.#selectors.keys()].filter((key) => key.startsWith(`${namespace}/`) && this.#selectsAny(key, labels));
    if (keys.length <= 1) return;
    const message = `pods by selector ${text} are controlled by multiple HPAs: [${keys.sort().join(' ')}]`;
    throw new TargetSelectorError(message, 'AmbiguousSelector', 'AmbiguousSelector');
  }

  #selectsAny(key: string, labels: readonly (Labels | undefined)[]): boolean {
    const selector = this.#selectors.get(key);
    return selector !== undefined && labels.some((candidate) => selector.matches(candidate));
  }
}

function parsed(text: string): Selector {
  try {
    return parseLabelSelector(text);
  } catch (error) {
    const message = `couldn't convert selector into a corresponding internal selector object: ${(error as Error).message}`;
    throw new TargetSelectorError(message, 'InvalidSelector', 'InvalidSelector');
  }
}
