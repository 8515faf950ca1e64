/** The CPU time limit for one turn of the event loop, for any input, on a machine that shares its cores. */
export const TURN_BUDGET_MS = Number(process.env.HOSTILE_TURN_MS ?? 500);
