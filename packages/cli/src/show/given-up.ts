/** Said below a part of an answer that broke off and is asked for anew: it counts no more. */
export const GIVEN_UP = "What was written of this answer is given up; it is asked for anew.";
