import type { UserInfo } from '../request/user.ts';
import type { EventUser } from './audit-event.ts';

const NOBODY: EventUser = { username: '' };

/** Users as events have them: one object for each user that was authenticated, however many requests it makes. */
export class EventUsers {
  readonly #users = new WeakMap<UserInfo, EventUser>();

  of(user: UserInfo | undefined): EventUser {
    if (user === undefined) return NOBODY;
    let eventUser = this.#users.get(user);
    if (eventUser === undefined) {
      const { name, uid, groups, extra } = user;
      eventUser = { username: name, ...(uid && { uid }), groups, ...(extra && { extra }) };
      this.#users.set(user, eventUser);
    }
    return eventUser;
  }
}
