import { fillUnset, fillZero, mapField } from '../../defaulting.ts';
import type {
  LimitedPriorityLevelConfiguration,
  LimitResponse,
  PriorityLevelConfiguration,
  PriorityLevelConfigurationSpec,
} from './priority-level-configuration.ts';

export function defaultPriorityLevelConfiguration(level: PriorityLevelConfiguration): PriorityLevelConfiguration {
  return mapField(level, 'spec', (spec: PriorityLevelConfigurationSpec) => {
    const exempt = mapField(spec, 'exempt', (value) => fillUnset(value, { nominalConcurrencyShares: 0, lendablePercent: 0 }));
    return mapField(exempt, 'limited', defaultLimited);
  });
}

function defaultLimited(limited: LimitedPriorityLevelConfiguration): LimitedPriorityLevelConfiguration {
  const filled = fillUnset(limited, { nominalConcurrencyShares: 30, lendablePercent: 0 });
  return mapField(filled, 'limitResponse', (response: LimitResponse) =>
    mapField(response, 'queuing', (queuing) => fillZero(queuing, { handSize: 8, queues: 64, queueLengthLimit: 50 })),
  );
}
