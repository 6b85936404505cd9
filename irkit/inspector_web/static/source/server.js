// The data source of the page: a server on this machine.

export class ServerSource {
  canCompare = true;
  nativeViews = ["code", "llvm-passes"];
  canRunJobs = true;
  canEdit = true;
  command = "";

  async ask(path, given = {}, options = {}) {
    const query = new URLSearchParams(given);
    let response;
    try {
      response = await fetch(`/api/${path}?${query}`, options);
    } catch {
      this.onLost?.();
      throw new Error("The server does not respond. Is irkit inspect still running?");
    }
    const answer = await response.json().catch(() => ({}));
    if (response.status === 403) this.onLost?.(true);
    if (!response.ok) throw new Error(answer.error ?? `The server responded with ${response.status}.`);
    return answer;
  }

  // Request again until the response is complete, or is not wanted any more.
  async whole(path, given, wanted = () => true) {
    for (;;) {
      const answer = await this.ask(path, given);
      if (!answer.more || !wanted()) return answer;
    }
  }

  post(path, body) {
    const headers = { "Content-Type": "application/json" };
    return this.ask(path, {}, { method: "POST", headers, body: JSON.stringify(body) });
  }

  async status() {
    const status = await this.ask("status");
    this.canRunJobs = status.runs;
    this.canEdit = status.edits;
    return status;
  }

  reload() { return this.ask("reload", {}, { method: "POST" }); }
  overview() { return this.ask("overview"); }
  kernels(run) { return this.ask("kernels", { run }); }
  counts(run, fn) { return this.ask("counts", { run, function: fn }); }
  async touching(run, fn, text, wanted) { return (await this.whole("touching", { run, function: fn, text }, wanted)).steps; }
  diff(left, right, names) { return this.ask("diff", { left, right, names: names ? 1 : 0 }); }
  lines(state, from, to) { return this.ask("lines", { state, from, to }); }
  canOpenEditor = true;
  editor(run, step) { return this.ask("editor", { run, step }, { method: "POST" }); }
  step(run, step) { return this.ask("step", { run, step }); }
  line(state, line, wanted) { return this.whole("line", { state, line }, wanted); }
  editable(run, step) { return this.ask("editable", { run, step }); }
  plan(run, fn) { return this.ask("plan", { run, function: fn }); }
  nest(left, right) { return this.ask("nest", { left, right }); }
  memory(state) { return this.ask("memory", { state }); }
  graph(state, opened = []) { return this.ask("graph", opened.length ? { state, open: JSON.stringify(opened) } : { state }); }
  executor(state) { return this.ask("executor", { state }); }
  native(state) { return this.ask("native", { state }); }
  async blame(state, wanted) { return (await this.whole("blame", { state }, wanted)).runs; }
  jobs() { return this.ask("jobs"); }
  job(id) { return this.ask(`jobs/${id}`); }
  beginJob(kind, args) { return this.post("jobs", { kind, arguments: args }); }
  upload(file) { return this.ask("upload", { name: file.name }, { method: "POST", body: file }); }
  cancelJob(id) { return this.post(`jobs/${id}/cancel`, {}); }
  beside(run, other, fn) { return this.ask("beside", { run, other, function: fn }); }
  chromeTrace(run) { return `/api/chrome?run=${run}`; }
  search(run, text, options) {
    return this.ask("search", { run, text, regex: options.regex ? 1 : 0, case: options.exact ? 1 : 0 });
  }
}
