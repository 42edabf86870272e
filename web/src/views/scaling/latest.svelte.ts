/** What is known of an answer while the question may change: the last answer stays until the next one is there. */
export class Latest<T> {
  value = $state.raw<T | null>(null);
  error = $state.raw<Error | null>(null);
  isBusy = $state(false);

  /** Asks whenever what `ask` reads changes; call it while a component is made. Null asks nothing. */
  constructor(ask: () => ((signal: AbortSignal) => Promise<T>) | null) {
    $effect(() => {
      const question = ask();
      if (question === null) {
        this.value = null;
        this.error = null;
        this.isBusy = false;
        return undefined;
      }
      const control = new AbortController();
      this.isBusy = true;
      question(control.signal).then(
        (value) => {
          if (control.signal.aborted) return;
          this.value = value;
          this.error = null;
          this.isBusy = false;
        },
        (error: unknown) => {
          if (control.signal.aborted) return;
          this.value = null;
          this.error = error instanceof Error ? error : new Error(String(error));
          this.isBusy = false;
        },
      );
      return () => { control.abort(); };
    });
  }
}
