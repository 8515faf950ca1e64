import type { ServiceRules } from './rules/service-rules.ts';

/** Applies rules to the machine. Calls that return promises do not overlap. */
export interface Applier {
  /** Throws when this machine does not support it, before anything is changed. */
  check(): Promise<void>;
  /** Replaces the rules of a service, undefined when it is deleted; applied by the next `sync`. */
  set(service: string, rules: ServiceRules | undefined): void;
  /** Applies all changes since the last call; the first time everything. */
  sync(): Promise<void>;
  /** Restores rules that other programs may have removed. */
  repair(): Promise<void>;
  /** Removes all of our rules. */
  remove(): Promise<void>;
  /** The rules in a readable form. */
  describe(): readonly string[];
}
