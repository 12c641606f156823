'use strict';
// The page: choices, requests to the library in the worker, and what comes back. Every number shown
// keeps its value in data-value.

const $ = id => document.getElementById(id);
const make = (tag, attributes, ...children) => {
  const element = document.createElement(tag);
  for (const [key, value] of Object.entries(attributes || {})) element.setAttribute(key, value);
  element.append(...children);
  return element;
};

// --- the library
const worker = new Worker(URL.createObjectURL(new Blob([$('worker').textContent], {type: 'text/javascript'})));
const waiting = new Map();
let asked = 0;
worker.onmessage = ({data}) => {
  const {resolve, reject} = waiting.get(data.id);
  waiting.delete(data.id);
  const answer = JSON.parse(data.answer);
  if (answer.error) reject(new Error(answer.error)); else resolve(Object.assign(answer, {milliseconds: data.milliseconds}));
};
worker.onerror = event => fail(new Error('the library did not start: ' + event.message));
const post = (message, transfer = []) => new Promise((resolve, reject) => {
  waiting.set(++asked, {resolve, reject});
  worker.postMessage({id: asked, ...message}, transfer);
});
const ask = request => post({request: JSON.stringify(request)});
const start = async () => {
  const packed = Uint8Array.from(atob($('module').textContent), c => c.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('gzip'));
  const module = await new Response(stream).arrayBuffer();
  await post({module}, [module]);
};

// --- choices
const ASSUMPTIONS = {
  auto: ['Let held-out points decide', 'The default of the program: it mixes what predicts points that it held back. Slower.'],
  none: ['Everywhere: ignore the shift', 'The plain model, logistic regression for log loss: its line reaches as far as you like.', 'lr'],
  test: ['Everywhere, weighted by the target', 'Importance weighting: right in the long run, but a few points may carry all the weight.', 'iw'],
  train: ['Only where training points are', 'Robust: certain where training points are dense beside target points, doubtful elsewhere.', 'robust'],
  overlap: ['Where they are not too scarce', 'As robust, but weights stay bounded: no point counts more than the sample can bear.', 'overlap'],
  views: ['Where one input hardly shifts', 'Robust-view: one input may hardly shift; what it says is believed also beyond the training points.', 'robust-view'],
  temper: ['In between, by a slider', 'From robust (0) to importance weighting (1).', 'robust'],
  grow: ['Within a cloud between the two', 'The cloud of trust grows from the training cloud (0) to the target cloud (1), as in figure 2.', 'robust'],
};
const LOSSES = {
  log: 'Surprise (log loss)', 'zero-one': 'A wrong answer (zero-one)',
  'abstain:0.2': 'As that; “no answer” costs 0.2', absolute: 'Distance of answers (absolute)',
  squared: 'Its square (squared)', hinge: 'A small margin (hinge, SVM)',
};
const FEATURES = {
  linear: 'A straight line (linear)', quadratic: 'A curve (quadratic)', 'splines:6': 'A sum of curves (splines)',
  'fourier:60': 'Any shape, by waves (Fourier)', 'nystroem:40': 'Any shape, by landmarks (Nyström)',
};
const RATIOS = {
  known: 'Known: the clouds as drawn', logistic: 'Estimated (logistic)',
  quadratic: 'Estimated with curves (quadratic)', gaussian: 'Estimated by Gaussians (gaussian)',
};
const STORIES = {
  start: 'Training sits in the middle, the target is spread wide. Far out the plain model is certain, and wrong labels cost it dearly. Drag the dots: the middle one moves a cloud, the others stretch and turn it.',
  same: 'Both clouds are the same: nothing is lost by ignoring the shift, and robustness costs nothing either.',
  figure1: 'Figure 1 of the paper. With the zero-one loss the robust model is certain where training supports it, and only there; the log loss is more cautious.',
  figure2: 'Figure 2 of the paper. How far should training be believed? A cloud of trust between training and target does better than either end.',
  figure3: 'Figure 3 of the paper. The input x2 has the same distribution on both sides. Trusting it, robust-view is certain where robust is not.',
  files: 'Choose two files, a label and two columns of numbers.',
};
const fill = (select, entries) => select.replaceChildren(
  ...Object.entries(entries).map(([value, name]) => make('option', {value}, Array.isArray(name) ? name[0] : name)));

const state = {
  preset: 'start', panel: 0, files: false, seed: 1, assumption: 'train', loss: 'log', features: 'linear', caution: 1,
  lambda: -10, lambdaAuto: false, ratio: 'logistic', grow: 0.5, view: 'auto', train: null, target: null,
  generalization: null, boundary: [0, -1, 1], noise: 0.05, trainRows: 200, targetRows: 200,
  low: -4.5, high: 4.5, file: {}, label: '', x: 'x1', y: 'x2',
};
let presets = [];
const methodOf = options => {
  const known = Object.entries(ASSUMPTIONS).find(([, row]) => row[2] === options['--method'].replace('01', ''));
  return known[0];
};
const load = (name, panel = 0) => {
  Object.assign(state, {preset: name, panel, files: name === 'files', generalization: null});
  const figure = presets.find(p => p.name === name);
  const wide = presets[1], shown = figure ? figure.panels[panel] : {...wide.panels[0], generalization: null};
  if (state.files) {
    state.ratio = state.ratio === 'known' ? 'logistic' : state.ratio;
    if (state.assumption === 'grow') state.assumption = 'train';
  } else {
    const example = shown.example, options = shown.options;
    Object.assign(state, {
      train: gaussianFrom(example.train), target: gaussianFrom(example.target), boundary: example.boundary, noise: example.noise,
      trainRows: figure ? example.train_rows : 200, targetRows: figure ? example.target_rows : 200,
      low: (figure || wide).low, high: (figure || wide).high, x: 'x1', y: 'x2', label: 'label',
      assumption: methodOf(options), loss: options['--method'].includes('01') ? 'zero-one' : 'log', features: 'linear',
      caution: 1, lambda: Math.log2(Number(options['--lambda'])), lambdaAuto: false,
      ratio: figure ? 'known' : 'gaussian', view: (options['--generalized-views'] || ['auto'])[0],
    });
    if (shown.generalization) {
      Object.assign(state, {assumption: 'grow', grow: panel / (figure.panels.length - 1), generalization: gaussianFrom(shown.generalization)});
    }
    if (name === 'same') state.target = gaussianFrom({...example.train});
    if (!figure) Object.assign(state, {assumption: 'temper', grow: 0.5, lambda: -10, noise: 0.1, trainRows: 60});
  }
  changed();
};

// --- requests
const known = () => !state.files && state.ratio === 'known';
const example = () => ({
  train: asJson(state.train), target: asJson(state.target), boundary: state.boundary, noise: state.noise,
  train_rows: state.trainRows, target_rows: state.targetRows,
});
const trusted = () => state.assumption === 'grow' ? state.generalization || between(state.train, state.target, state.grow) : null;
const densities = () => known()
  ? {known: true, example: example(), ...(trusted() ? {generalization: asJson(trusted())} : {})} : {};
const options = plain => {
  const method = plain ? 'lr' : state.assumption === 'auto' ? 'auto' : ASSUMPTIONS[state.assumption][2];
  const flags = {'--method': method, '--loss': state.loss, '--features': state.features,
                 '--lambda': state.lambdaAuto ? 'auto' : String(2 ** state.lambda)};
  if (known()) flags['--ratio'] = 'column:ratio'; else flags['--ratio'] = state.ratio;
  if (!plain) {
    flags['--caution'] = String(state.caution);
    if (state.assumption === 'temper') flags['--generalize'] = `temper:${state.grow}`;
    if (state.assumption === 'grow') flags['--generalize'] = 'column:log_p_gen';
    if (state.assumption === 'views') flags['--generalized-views'] = [state.view];
  } else if (state.assumption === 'grow') {
    flags['--drop'] = ['log_p_gen'];
  }
  if (state.files) {
    const others = state.file.train.columns.map(c => c.name).filter(n => ![state.label, state.x, state.y].includes(n));
    if (others.length) flags['--drop'] = others;
  } else {
    flags['--classes'] = ['o', '+'];
    flags['--scale'] = 'none';
    flags['--views'] = state.assumption === 'views' && !plain ? 'each' : 'all';
  }
  return flags;
};
const area = () => {
  if (!state.files) return [state.low, state.high, state.low, state.high];
  return ['x', 'y'].flatMap(axis => {
    const columns = ['train', 'target'].map(k => state.file[k].columns.find(c => c.name === state[axis])).filter(Boolean);
    const low = Math.min(...columns.map(c => c.low)), high = Math.max(...columns.map(c => c.high));
    const margin = 0.05 * (high - low) || 0.5;
    return [low - margin, high + margin];
  });
};
const fitRequest = (data, more) => ({
  do: 'fit', train: data.train, target: data.target, label: state.label, x: state.x, y: state.y, ...more,
});

// --- the loop: the newest wish is computed when the last one is done
let wish = null, running = false, last = null;
const changed = (quick = false) => {
  wish = {quick};
  showChoices();
  showPicture();
  if (!running) run();
};
const run = async () => {
  running = true;
  delete document.documentElement.dataset.ready;
  while (wish) {
    const {quick} = wish;
    wish = null;
    const slow = setTimeout(() => { $('busy').hidden = false; }, 300);
    try {
      await refresh(quick);
      $('problem').hidden = true;
    } catch (error) {
      fail(error);
    }
    clearTimeout(slow);
    $('busy').hidden = true;
  }
  running = false;
  document.documentElement.dataset.ready = 'yes';
};
const fail = error => {
  $('problem').textContent = error.message;
  $('problem').hidden = false;
};
const refresh = async quick => {
  if (state.files && !(state.file.train && state.file.target)) { last = null; showPicture(); showNumbers(); return; }
  const text = state.files ? null : await ask({do: 'draw', example: example(), seed: state.seed, ...densities()});
  const data = state.files ? {train: state.file.train, target: state.file.target}
    : {train: {name: 'train.csv', text: text.train}, target: {name: 'target.csv', text: text.target}};
  const request = fitRequest({train: {name: data.train.name, text: data.train.text}, target: {name: data.target.name, text: data.target.text}},
                             {options: options(false), cells: 64, area: area(), limit_certainty: !state.preset.startsWith('figure'), ...densities()});
  const own = await ask({...request, promise: false});
  const plain = state.assumption === 'none' ? own : await ask({...request, options: options(true), cells: undefined, promise: false});
  last = {request, data, own, plain, area: area(), promised: false};
  showPicture();
  showNumbers();
  if (quick || wish) return;
  // What was held back is judged once the hand rests.
  const full = await ask({...request, cells: undefined});
  last.own.report = full.report;
  last.promised = true;
  showNumbers();
};

// --- what is shown
const showPresets = () => {
  const box = $('presets'), shown = `${state.preset} ${state.panel}`;
  if (box.dataset.shown === shown) return;
  const focused = box.contains(document.activeElement) && document.activeElement.dataset;
  box.dataset.shown = shown;
  box.replaceChildren(...[['start', 'Start'], ['same', 'No shift'], ...presets.map(p => [p.name, p.name.replace('figure', 'Figure ')]),
    ['files', 'Your files']].map(([name, title]) => {
    const chip = make('button', {type: 'button', 'data-preset': name, 'aria-pressed': String(state.preset === name)}, title);
    chip.onclick = () => load(name);
    return chip;
  }));
  const figure = presets.find(p => p.name === state.preset);
  if (figure) {
    box.append(make('span', {class: 'break'}), ...figure.panels.map((panel, i) => {
      const chip = make('button', {type: 'button', class: 'of', 'data-panel': i, 'aria-pressed': String(state.panel === i)}, panel.title);
      chip.onclick = () => load(state.preset, i);
      return chip;
    }));
  }
  // The keyboard stays where it was.
  if (focused) box.querySelector(focused.panel ? `[data-panel="${focused.panel}"]` : `[data-preset="${focused.preset}"]`)?.focus();
};
const showChoices = () => {
  showPresets();
  $('story').textContent = STORIES[state.preset];
  const put = (id, value, shown) => { $(id).value = value; if (shown !== undefined) $(id + '-value').textContent = shown; };
  put('assumption', state.assumption);
  $('assumption-hint').textContent = ASSUMPTIONS[state.assumption][1];
  put('loss', state.loss);
  put('features', state.features);
  put('ratio', state.ratio);
  put('views', state.view);
  put('grow', state.grow, state.grow.toFixed(2));
  put('caution', state.caution, state.caution.toFixed(2));
  put('lambda', state.lambda, state.lambdaAuto ? 'chosen' : '2' + [...String(state.lambda)].map(c => '⁻⁰¹²³⁴⁵⁶⁷⁸⁹'['-0123456789'.indexOf(c)]).join(''));
  $('lambda').disabled = $('lambda-auto').checked = state.lambdaAuto;
  put('train-rows', state.trainRows, state.trainRows);
  put('target-rows', state.targetRows, state.targetRows);
  put('noise', state.noise, Math.round(100 * state.noise) + '%');
  $('grow-row').hidden = !['temper', 'grow'].includes(state.assumption);
  $('grow-row').style.display = $('grow-row').hidden ? 'none' : '';
  $('views-row').hidden = state.assumption !== 'views';
  $('simulated').hidden = state.files;
  $('files').hidden = !state.files;
  for (const option of $('ratio').options) option.disabled = state.files && option.value === 'known';
  for (const option of $('assumption').options) option.disabled = state.files && option.value === 'grow';
};

const plane = new Plane($('canvas'));
const showPicture = () => {
  plane.area = state.files ? (last ? last.area : [0, 1, 0, 1]) : area();
  const current = last && Boolean(last.request.options['--classes']) !== state.files ? last : null;
  const rings = state.files || !state.train ? [] : [[state.train, [], 'training'], [state.target, [7, 5], 'target']];
  if (!state.files && state.train && trusted()) rings.push([trusted(), [1, 4], 'trust']);
  plane.draw({
    names: [state.x, state.y], rings, boundary: state.files ? null : state.boundary,
    ...(current ? {map: current.own.map, actions: current.own.actions.length, classes: current.own.classes.length,
                   train: current.own.train, target: current.own.target} : {}),
  });
  placeHandles();
  const parts = [];
  if (current) {  // what the colours mean
    current.own.classes.forEach((name, k) => parts.push(make('span', {}, make('i', {style: `background: rgb(${colourOf(k, 9)})`}), `predicts ${name}`)));
    if (current.own.actions.length > current.own.classes.length) parts.push(make('span', {}, make('i', {style: `background: rgb(${GREY})`}), 'does not say'));
  }
  if (!state.files) {
    parts.push(make('span', {}, make('i', {class: 'ring'}), 'training cloud'), make('span', {}, make('i', {class: 'ring dashed'}), 'target cloud'),
               make('span', {}, make('i', {class: 'dots'}), 'true border'));
  }
  parts.push(make('span', {}, 'signs: training, larger where they count more · dots: target'));
  $('legend').replaceChildren(...parts);
};

const bits = () => state.loss === 'log';
const unit = value => value === null || value === undefined ? null : bits() ? value / Math.LN2 : value;
const short = value => value === null || value === undefined ? 'infinite' : Math.abs(value) >= 100 ? value.toPrecision(4) : value.toFixed(3);
const lossOf = fit => fit.scores && (bits() ? fit.scores.log_loss : fit.scores.expected_loss);
const tile = (id, value, shown, text, bars = []) => {
  const box = make('div', {class: 'tile', id}, make('b', {}, shown), make('span', {}, text));
  box.dataset.value = JSON.stringify(value === undefined ? null : value);
  const most = Math.max(...bars.map(b => b || 0));
  bars.forEach((bar, i) => box.insertBefore(
    make('i', {style: `width: ${most > 0 ? 100 * Math.min(1, (bar === null ? most : bar) / most) : 0}%`, class: i ? 'other' : ''}), box.lastChild));
  return box;
};
const showNumbers = () => {
  const tiles = [];
  if (!last) {
    for (const id of ['tiles', 'warnings']) $(id).replaceChildren();
    $('verdict').textContent = $('statement').textContent = '';
    return;
  }
  const {own, plain} = last, report = own.report, certificate = report.certificate, what = bits() ? 'bits' : `${report.loss} loss`;
  if (own.scores) {
    const mine = lossOf(own), other = lossOf(plain);
    tiles.push(tile('loss', mine, `${short(unit(mine))}${bits() ? ' bits' : ''}`, `loss on the target (plain model: ${short(unit(other))})`, [mine, other]));
    tiles.push(tile('error', own.scores.accuracy, `${(100 * (1 - own.scores.accuracy)).toFixed(1)}%`,
                    `of target points answered wrongly (plain model: ${(100 * (1 - plain.scores.accuracy)).toFixed(1)}%)`,
                    [1 - own.scores.accuracy, 1 - plain.scores.accuracy]));
  }
  tiles.push(tile('game', report.game_value, short(unit(report.game_value)) + (bits() ? ' bits' : ''), 'the worst case that training permits (game value)'));
  tiles.push(tile('bound', certificate.bound, !last.promised ? '…' : certificate.bound === null ? 'nothing' : '≤ ' + short(unit(certificate.bound)),
                  certificate.bound === null && last.promised ? 'is promised: see below' : 'promised for the target, 95% sure'));
  const worth = report.ratio && report.ratio.effective_sample_size;
  if (worth) tiles.push(tile('worth', worth, worth.toFixed(0), `of ${own.train.x.length} training points is what they are worth on the target`));
  tiles.push(tile('time', own.milliseconds, `${own.milliseconds.toFixed(0)} ms`, `to measure the shift and fit, map included; ${report.iterations} steps`));
  $('tiles').replaceChildren(...tiles);
  $('statement').textContent = last.promised ? certificate.statement || '' : '';
  $('verdict').textContent = verdict(own, plain, what);
  $('warnings').replaceChildren(...(own.warnings || []).map(w => make('li', {}, w)));
  $('command').textContent = command();
};
const verdict = (own, plain, what) => {
  if (!own.scores) return 'The target has no labels: the promise below is all that is known.';
  const mine = unit(lossOf(own)), other = unit(lossOf(plain));
  if (own === plain) return `The plain model loses ${short(mine)} ${what} per target point.`;
  const numbers = `${short(mine)} against ${short(other)} ${what} per target point.`;
  if (mine === null || (other !== null && mine > 1.02 * other)) return `Here the plain model does better: its line happens to hold beyond the training points. ${numbers}`;
  if (other === null || mine < 0.98 * other) return `This does better than the plain model, which is too certain: ${numbers}`;
  return `About as good as the plain model: ${numbers}`;
};
// The figures are fitted as in the paper, which no flag of the program does: it judges the page's model.
const command = () => {
  const quote = word => /^[\w.,:+/=-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
  const {request, data} = last;
  const evaluate = `covshift evaluate model.json ${quote(data.target.name)}`;
  $('how').textContent = request.limit_certainty ? 'Download the points, then run this. The numbers are the same.'
    : 'Fitted as in the paper, without the program\'s limit of certainty: download model and points, then run this. The numbers are the same.';
  if (!request.limit_certainty) return evaluate;
  const flags = Object.entries(request.options).map(([flag, value]) => `${flag} ${quote([value].flat().join(','))}`);
  return `covshift fit ${quote(data.train.name)} --target ${quote(data.target.name)} --label ${quote(request.label)} \\\n  ` +
    `${flags.join(' ')} -o model.json\n${evaluate}`;
};
const save = (name, text) => {
  const link = make('a', {href: URL.createObjectURL(new Blob([text])), download: name});
  link.click();
  URL.revokeObjectURL(link.href);
};

// --- handles: a button for each, moved by pointer or arrow keys
const HANDLES = ['train', 'target'].flatMap(which => [
  {which, part: 'mean', name: `middle of the ${which === 'train' ? 'training' : 'target'} cloud`},
  {which, part: 'along', name: `length and direction of the ${which === 'train' ? 'training' : 'target'} cloud`},
  {which, part: 'across', name: `width of the ${which === 'train' ? 'training' : 'target'} cloud`},
]);
const placeOf = ({which, part}) => {
  const g = state[which], c = Math.cos(g.angle), s = Math.sin(g.angle);
  if (part === 'mean') return g.mean;
  return part === 'along' ? [g.mean[0] + 2 * g.along * c, g.mean[1] + 2 * g.along * s]
                          : [g.mean[0] - 2 * g.across * s, g.mean[1] + 2 * g.across * c];
};
const moveTo = ({which, part}, [x, y], quick) => {
  const g = state[which], clamp = (v, low, high) => Math.min(high, Math.max(low, v));
  if (part === 'mean') {
    g.mean = [clamp(x, state.low, state.high), clamp(y, state.low, state.high)];
  } else {
    const dx = x - g.mean[0], dy = y - g.mean[1];
    g[part] = clamp(Math.hypot(dx, dy) / 2, 0.3, 4);
    g.angle = part === 'along' ? Math.atan2(dy, dx) : Math.atan2(-dx, dy);
    g.covariance = covarianceOf(g);
  }
  state.generalization = null;
  changed(quick);
};
for (const handle of HANDLES) {
  const button = handle.button = make('button', {type: 'button', class: `handle ${handle.part} ${handle.which}`,
    'aria-label': `${handle.name}; arrow keys move it`, title: `Drag: ${handle.name}`});
  button.onpointerdown = event => { button.setPointerCapture(event.pointerId); event.preventDefault(); button.focus({focusVisible: false}); };
  button.onpointermove = event => {
    if (!button.hasPointerCapture(event.pointerId)) return;
    const box = $('canvas').getBoundingClientRect();
    moveTo(handle, plane.fromShare([(event.clientX - box.left) / box.width, (event.clientY - box.top) / box.height]), true);
  };
  button.onlostpointercapture = () => changed();
  button.onkeydown = event => {
    const step = event.shiftKey ? 0.5 : 0.1;
    const move = {ArrowLeft: [-step, 0], ArrowRight: [step, 0], ArrowUp: [0, step], ArrowDown: [0, -step]}[event.key];
    if (!move) return;
    event.preventDefault();
    const [x, y] = placeOf(handle);
    moveTo(handle, [x + move[0], y + move[1]]);
  };
  $('handles').append(button);
}
const placeHandles = () => {
  $('handles').hidden = state.files || !state.train;
  if ($('handles').hidden) return;
  for (const handle of HANDLES) {
    const [u, v] = plane.share(placeOf(handle)), inside = x => Math.min(0.985, Math.max(0.015, x));
    handle.button.style.left = `${100 * inside(u)}%`;
    handle.button.style.top = `${100 * inside(v)}%`;
  }
};

// --- files
const readText = async file => {
  const bytes = file.name.endsWith('.gz') ? file.stream().pipeThrough(new DecompressionStream('gzip')) : file;
  const buffer = new Uint8Array(await new Response(bytes).arrayBuffer());
  return new TextDecoder(buffer[0] === 0xff && buffer[1] === 0xfe ? 'utf-16le' : 'utf-8').decode(buffer);
};
const take = async (which, file) => {
  try {
    if (!state.files) load('files');
    const entry = {name: file.name.replace(/\.gz$/, ''), text: await readText(file)};
    Object.assign(entry, await ask({do: 'table', ...entry}));
    state.file[which] = entry;
    if (which === 'train') chooseColumns(entry.columns);
    changed();
  } catch (error) {
    fail(error);
  }
};
const chooseColumns = columns => {
  const names = columns.map(c => c.name), numbers = columns.filter(c => c.numeric).map(c => c.name);
  const usual = names.find(n => /^(label|class|target|y|outcome)$/i.test(n));
  state.label = usual || [...columns].reverse().find(c => !c.numeric)?.name || names[names.length - 1];
  const inputs = numbers.filter(n => n !== state.label);
  [state.x, state.y] = [inputs[0], inputs[1] || inputs[0]];
  fill($('label'), Object.fromEntries(names.map(n => [n, n])));
  for (const id of ['axis-x', 'axis-y']) fill($(id), Object.fromEntries(numbers.map(n => [n, n])));
  $('label').value = state.label;
  $('axis-x').value = state.x;
  $('axis-y').value = state.y;
  $('columns').hidden = false;
};

// --- everything together
const listen = () => {
  const bind = (id, key, read = e => e.value, event = 'input') =>
    $(id).addEventListener(event, e => { state[key] = read(e.target); if (['grow', 'assumption'].includes(key)) state.generalization = null; changed(); });
  const number = e => Number(e.value);
  bind('assumption', 'assumption');
  bind('loss', 'loss');
  bind('features', 'features');
  bind('ratio', 'ratio');
  bind('views', 'view');
  for (const [id, key] of [['grow', 'grow'], ['caution', 'caution'], ['lambda', 'lambda'], ['train-rows', 'trainRows'],
                           ['target-rows', 'targetRows'], ['noise', 'noise']]) bind(id, key, number);
  bind('lambda-auto', 'lambdaAuto', e => e.checked);
  bind('label', 'label');
  bind('axis-x', 'x');
  bind('axis-y', 'y');
  // A cloud of trust is drawn, so the clouds are known.
  $('assumption').addEventListener('input', () => { if (state.assumption === 'grow') { state.ratio = 'known'; changed(); } });
  $('ratio').addEventListener('input', () => { if (state.assumption === 'grow' && state.ratio !== 'known') { state.assumption = 'temper'; changed(); } });
  $('again').onclick = () => { state.seed += 1; changed(); };
  for (const which of ['train', 'target']) {
    $(`${which}-file`).onchange = event => event.target.files.length && take(which, event.target.files[0]);
    $(`save-${which}`).onclick = () => last && save(last.data[which].name, last.data[which].text);
  }
  $('save-model').onclick = async () => last && save('model.json', (await ask({...last.request, cells: undefined, model: true})).model);
  document.ondragover = event => { event.preventDefault(); document.body.classList.add('dropping'); };
  document.ondragleave = event => event.relatedTarget || document.body.classList.remove('dropping');
  document.ondrop = async event => {
    event.preventDefault();
    document.body.classList.remove('dropping');
    const files = [...event.dataTransfer.files];
    // Two files: the one that is called so is the target.
    const target = files.length > 1 ? files.find(f => /target|test/i.test(f.name)) || files[1] : state.file.train ? files[0] : null;
    for (const file of files.slice(0, 2)) await take(file === target ? 'target' : 'train', file);
  };
  $('theme').onclick = () => theme(document.documentElement.dataset.theme !== 'dark');
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', event => theme(event.matches));
  new ResizeObserver(() => showPicture()).observe($('plane'));
};
const theme = dark => {
  document.documentElement.dataset.theme = dark ? 'dark' : 'light';
  $('theme').textContent = dark ? 'Light' : 'Dark';
  showPicture();
};

(async () => {
  fill($('assumption'), ASSUMPTIONS);
  fill($('loss'), LOSSES);
  fill($('features'), FEATURES);
  fill($('ratio'), RATIOS);
  fill($('views'), {auto: 'whichever hardly shifts', x1: 'x1', x2: 'x2'});
  theme(matchMedia('(prefers-color-scheme: dark)').matches);
  try {
    await start();
    const answer = await ask({do: 'presets'});
    presets = answer.presets;
    $('made').textContent = `covshift ${answer.version}. Everything is in this file: it loads nothing, and nothing leaves your browser.`;
    listen();
    load('start');
    while (!last && $('problem').hidden) await new Promise(done => setTimeout(done, 5));
    document.documentElement.dataset.interactive = performance.now();
  } catch (error) {
    fail(error);
  }
})();
