'use strict';
// The charts of the report: options for ECharts from the numbers of the JSON. Nothing here or in
// page.js makes HTML of a text: elements are made one by one and texts set as text.

const theme = () => {
  const css = getComputedStyle(document.documentElement);
  const of = name => css.getPropertyValue('--' + name).trim();
  return Object.fromEntries(['ink', 'muted', 'line', 'card', 'ground', 'train', 'target', 'weighted',
                             'accent'].map(name => [name, of(name)]));
};
const METHOD_COLOURS = ['#0072b2', '#d55e00', '#009e73', '#cc79a7', '#e69f00', '#56b4e9', '#8f7a00',
                        '#7f5fc8', '#707070', '#b03a5b', '#5b8c00', '#8c564b'];
const SYMBOLS = ['circle', 'rect', 'triangle', 'diamond', 'pin', 'arrow', 'roundRect', 'emptyCircle',
                 'emptyRect', 'emptyDiamond'];
const short = x => {
  if (x === null || x === undefined || !Number.isFinite(x)) return '–';
  const size = Math.abs(x);
  if (size !== 0 && (size < 1e-3 || size >= 1e6)) return x.toExponential(2);
  return String(+x.toPrecision(4));
};
const count = x => x.toLocaleString('en-US', {maximumFractionDigits: 0});
const percent = x => (100 * x).toFixed(1) + '%';

const tip = lines => {
  const box = document.createElement('div');
  box.className = 'tip';
  lines.forEach((line, i) => {
    const part = document.createElement(i === 0 ? 'b' : 'div');
    part.textContent = line;
    box.append(part);
  });
  return box;
};

const base = t => ({
  animation: false,
  textStyle: {color: t.ink, fontFamily: 'system-ui, "DejaVu Sans", sans-serif'},
  tooltip: {confine: true, backgroundColor: t.card, borderColor: t.line, textStyle: {color: t.ink}},
  grid: {left: 8, right: 16, top: 34, bottom: 8, containLabel: true},
  legend: {top: 0, textStyle: {color: t.muted}, inactiveColor: t.line, type: 'scroll',
           pageTextStyle: {color: t.muted}},
});
const axis = (t, more) => ({
  axisLine: {lineStyle: {color: t.line}}, axisLabel: {color: t.muted, hideOverlap: true},
  nameTextStyle: {color: t.muted}, splitLine: {lineStyle: {color: t.line, opacity: .6}}, ...more,
});
// The name of an upright axis stands beside it, where no legend is in its way.
const upright = (name, gap) => ({name, nameLocation: 'middle', nameRotate: 90, nameGap: gap});
const clip = (text, n) => text.length > n ? text.slice(0, n - 1) + '…' : text;

// One feature: shares of training, weighted training and target.
const distribution = f => t => {
  const category = f.kind === 'category';
  const name = i => category ? f.levels[i]
                             : `${short(f.edges[i])} to ${short(f.edges[i + 1])}`;
  const series = (label, key, colour, dash) => {
    if (category) {
      return {name: label, type: 'bar', data: f[key], itemStyle: {color: colour}, barGap: '5%'};
    }
    // Steps over the true edges; the last value again to close the last step.
    const data = f[key].map((v, i) => [f.edges[i], v]);
    data.push([f.edges[f.edges.length - 1], f[key][f[key].length - 1]]);
    return {name: label, type: 'line', step: 'end', data, showSymbol: false,
            lineStyle: {color: colour, width: 2, type: dash ? 'dashed' : 'solid'},
            itemStyle: {color: colour}, areaStyle: dash ? undefined : {color: colour, opacity: .18}};
  };
  const at = params => {
    const x = category ? params[0].dataIndex : params[0].data[0];
    const bin = category ? x : Math.max(0, f.edges.findLastIndex(e => e <= x));
    return Math.min(bin, f.train.length - 1);
  };
  return {
    ...base(t),
    grid: {left: 4, right: 10, top: 28, bottom: 2, containLabel: true},
    legend: {...base(t).legend, icon: 'roundRect', itemHeight: 8, itemWidth: 16},
    tooltip: {...base(t).tooltip, trigger: 'axis', formatter: params => {
      const i = at(params);
      return tip([name(i), `training ${percent(f.train[i])}`, `weighted ${percent(f.weighted[i])}`,
                  `target ${percent(f.target[i])}`]);
    }},
    xAxis: category
        ? axis(t, {type: 'category', data: f.levels.map(l => clip(l, 18)), splitLine: {show: false}})
        : axis(t, {type: 'value', min: f.edges[0], max: f.edges[f.edges.length - 1],
                   splitLine: {show: false}, splitNumber: 4,
                   axisLabel: {color: t.muted, hideOverlap: true, showMinLabel: false,
                               showMaxLabel: false, formatter: short}}),
    yAxis: axis(t, {type: 'value', splitNumber: 3, max: range => range.max > .9 ? 1 : null, axisLabel: {color: t.muted,
                    formatter: v => (100 * v).toFixed(v < .02 && v > 0 ? 1 : 0) + '%'}}),
    series: [series('training', 'train', t.train), series('target', 'target', t.target),
             series('weighted', 'weighted', t.weighted, true)],
  };
};

// A logarithmic axis from LEAST_KL on, in decades: bars of ECharts' own log axis begin at 1.
const LEAST_KL = 1e-3;
const decades = kl => Math.log10(Math.max(LEAST_KL, kl) / LEAST_KL);
const viewBars = (views, threshold, ratio) => t => {
  const order = views.slice(0, 25).reverse();
  const bar = (label, key, colour) => ({
    name: label, type: 'bar', data: order.map(v => decades(v[key])), itemStyle: {color: colour},
  });
  const series = [bar(`symmetric KL (${ratio} ratio)`, 'kl', t.train), bar('binned KL', 'kl_binned', t.target)];
  series[0].markLine = {
    symbol: 'none', silent: true, lineStyle: {color: t.ink, type: 'dashed', width: 1.5},
    label: {color: t.ink, formatter: `moved: from ${threshold} on`, position: 'end', align: 'left'},
    data: [{xAxis: decades(threshold)}],
  };
  return {
    ...base(t),
    tooltip: {...base(t).tooltip, trigger: 'axis', axisPointer: {type: 'shadow'}, formatter: params => {
      const v = order[params[0].dataIndex];
      return tip([v.name, `symmetric KL ${short(v.kl)}`, `binned KL ${short(v.kl_binned)}`,
                  v.stable ? 'hardly moved' : 'moved']);
    }},
    xAxis: axis(t, {type: 'value', interval: 1, max: range => Math.ceil(range.max), name: 'divergence (log scale)', nameLocation: 'middle', nameGap: 26,
                    axisLabel: {color: t.muted, hideOverlap: true, formatter: v => String(+(LEAST_KL * 10 ** v).toPrecision(3))}}),
    yAxis: axis(t, {type: 'category', data: order.map(v => clip(v.name, 22)), splitLine: {show: false}}),
    grid: {left: 8, right: 24, top: 54, bottom: 26, containLabel: true},
    series,
  };
};

const weightBars = (weights, rows) => t => ({
  ...base(t),
  tooltip: {...base(t).tooltip, formatter: p => tip([
    `weight ${short(Math.exp(weights.log_edges[p.dataIndex]))} to ` +
        short(Math.exp(weights.log_edges[p.dataIndex + 1])),
    `${count(weights.counts[p.dataIndex])} of ${count(rows)} training rows`])},
  grid: {left: 8, right: 16, top: 16, bottom: 28, containLabel: true},
  xAxis: axis(t, {type: 'category', name: 'weight P_target/P_train of training rows (log scale)',
                  nameLocation: 'middle', nameGap: 28, splitLine: {show: false},
                  data: weights.counts.map((_, i) =>
                      +Math.exp((weights.log_edges[i] + weights.log_edges[i + 1]) / 2).toPrecision(2))}),
  yAxis: axis(t, {type: 'value', minInterval: 1, axisLabel: {color: t.muted, formatter: count}}),
  series: [{type: 'bar', data: weights.counts, barCategoryGap: '8%', itemStyle: {color: t.weighted}}],
});

const scatter = s => t => {
  const points = (label, list, symbol, itemStyle) => ({
    name: label, type: 'scatter', data: list, symbol, symbolSize: 7, itemStyle,
  });
  return {
    ...base(t),
    tooltip: {...base(t).tooltip, formatter: p => tip([
      p.seriesName, `${s.x} ${short(p.data[0])}`, ...(s.y === null ? [] : [`${s.y} ${short(p.data[1])}`])])},
    grid: {left: 28, right: 16, top: 34, bottom: 26, containLabel: true},
    xAxis: axis(t, {type: 'value', scale: true, name: clip(s.x, 40), nameLocation: 'middle', nameGap: 26}),
    yAxis: axis(t, {type: 'value', scale: true, ...upright(s.y === null ? '' : clip(s.y, 30), 36)}),
    series: [points('training', s.train, 'circle', {color: t.train, opacity: .65}),
             points('target', s.target.filter(p => !p[2]), 'circle', {color: t.target, opacity: .65}),
             points('target without support', s.target.filter(p => p[2]), 'triangle',
                    {color: 'transparent', borderColor: t.target, borderWidth: 1.5})],
  };
};

const METRICS = {brier: 'Brier score', error: 'error rate', log_loss_bits: 'log loss (bits)'};

const starred = (method, recommended) => method === recommended ? '★ ' + method : method;

// Estimates and, where there are any, true values of every method, with 95% intervals. Grey: they mean little.
const intervals = (methods, key, recommended) => t => {
  const names = methods.map(m => starred(m.method, recommended)).reverse();
  const rows = judged => methods.map((m, i) => {
    const e = m[judged] && m[judged][key];
    return e && e.value !== null ? [e.value, names.length - 1 - i, e.low, e.high] : null;
  }).filter(Boolean);
  const both = methods.some(m => m.truth);
  const pair = (label, judged, wanted, symbol, offset) => {
    const data = rows(judged);
    const reliable = methods.every(m => !m[judged] || m[judged].reliable);
    const colour = reliable ? wanted : t.muted, opacity = reliable ? 1 : .45;
    const name = reliable ? label : label + ' (a guess)';
    return [
      {name, type: 'scatter', symbol, symbolSize: 11, symbolOffset: [0, offset], data,
       itemStyle: {color: colour, opacity}, z: 3, encode: {x: 0, y: 1}},
      {name, type: 'custom', data, itemStyle: {color: colour}, encode: {x: [0, 2, 3], y: 1},
       tooltip: {show: false}, silent: true, renderItem: (params, api) => {
         const a = api.coord([api.value(2), api.value(1)]);
         const b = api.coord([api.value(3), api.value(1)]);
         const y = a[1] + offset;
         const line = (x1, y1, x2, y2) => ({type: 'line', shape: {x1, y1, x2, y2},
                                            style: {stroke: colour, opacity, lineWidth: 2}});
         return {type: 'group', children: [line(a[0], y, b[0], y), line(a[0], y - 4, a[0], y + 4),
                                           line(b[0], y - 4, b[0], y + 4)]};
       }},
    ];
  };
  return {
    ...base(t),
    tooltip: {...base(t).tooltip, formatter: p => tip([
      names[p.data[1]], `${p.seriesName}: ${short(p.data[0])}`,
      `95% interval ${short(p.data[2])} to ${short(p.data[3])}`])},
    grid: {left: 24, right: 20, top: 34, bottom: 26, containLabel: true},
    xAxis: axis(t, {type: 'value', scale: true, name: METRICS[key] + ', smaller is better',
                    nameLocation: 'middle', nameGap: 26}),
    yAxis: axis(t, {type: 'category', data: names.map((name, i) => i === names.length - 1
                        ? {value: name, textStyle: {color: t.ink, fontWeight: 'bold'}} : name),
                    splitLine: {show: true, lineStyle: {color: t.line, opacity: .6}}}),
    series: [...(both ? pair('true', 'truth', t.target, 'diamond', -6) : []),
             ...pair('estimated', 'estimated', t.train, 'circle', both ? 6 : 0)],
  };
};

// The recommended method first, thick and on top; of many others only a few until they are asked for.
const calibration = (methods, recommended) => t => {
  const judged = methods.some(m => m.truth) ? 'truth' : 'estimated';
  const first = [recommended, 'lr', 'robust', 'robust-view'];
  return {
    ...base(t),
    tooltip: {...base(t).tooltip, formatter: p => p.data.length < 3 ? '' : tip([
      p.seriesName, `says ${percent(p.data[0])} on average`, `is right ${percent(p.data[1])}`,
      `${percent(p.data[2])} of the rows`])},
    legend: {...base(t).legend, selected: Object.fromEntries(methods.map(m =>
        [starred(m.method, recommended), first.includes(m.method) || methods.length <= 4]))},
    grid: {left: 28, right: 20, top: 40, bottom: 26, containLabel: true},
    xAxis: axis(t, {type: 'value', min: 0, max: 1, name: 'how sure it is', nameLocation: 'middle', nameGap: 26}),
    yAxis: axis(t, {type: 'value', min: 0, max: 1, ...upright('how often it is right', 34)}),
    series: [
      ...methods.map((m, i) => {
        const own = m.method === recommended;
        const colour = own ? t.ink : METHOD_COLOURS[i % METHOD_COLOURS.length];
        return {
          name: starred(m.method, recommended), type: 'line', symbol: SYMBOLS[i % SYMBOLS.length], z: own ? 4 : 2,
          data: m[judged].calibration.map(c => [c.confidence, c.accuracy, c.share]),
          symbolSize: v => 6 + 12 * Math.sqrt(v[2]),
          itemStyle: {color: colour}, lineStyle: {color: colour, width: own ? 3.5 : 1.5},
        };
      }),
      {type: 'line', data: [[0, 0], [1, 1]], showSymbol: false, silent: true, tooltip: {show: false},
       lineStyle: {color: t.muted, type: 'dashed', width: 1}},
    ],
  };
};

// From blue over white to orange; for more classes than two, a class's colour fading to white.
const mix = (a, b, s) => 'rgb(' + [0, 1, 2].map(i => Math.round(a[i] + (b[i] - a[i]) * s)).join(',') + ')';
const rgb = hex => [1, 3, 5].map(i => parseInt(hex.slice(i, i + 2), 16));
const BLUE = rgb('#0b5c9e'), WHITE = rgb('#f7f7f7'), ORANGE = rgb('#c75000');
const cellColour = (label, p, classes) => {
  if (classes === 2) {
    const plus = label === 1 ? p : 1 - p;
    return plus < .5 ? mix(WHITE, BLUE, 1 - 2 * plus) : mix(WHITE, ORANGE, 2 * plus - 1);
  }
  const sure = (p - 1 / classes) / (1 - 1 / classes);
  return mix(WHITE, rgb(METHOD_COLOURS[label % METHOD_COLOURS.length]), .15 + .85 * sure);
};

const decisionMap = (map, layer, classes) => t => {
  const n = map.cells;
  const dx = (map.x.high - map.x.low) / (n - 1), dy = (map.y.high - map.y.low) / (n - 1);
  const cells = layer.p.map((p, i) => [map.x.low + dx * (i % n), map.y.low + dy * Math.floor(i / n),
                                       layer.class[i], p]);
  const largest = Math.max(...map.train.map(d => d[2]), ...map.target.map(d => d[2]));
  const density = (label, list, symbol, fill, edge) => ({
    name: label, type: 'scatter', data: list, symbol, z: 3,
    symbolSize: d => 2 + 15 * Math.sqrt(d[2] / largest),
    itemStyle: {color: fill, borderColor: edge, borderWidth: 1, opacity: .85},
  });
  return {
    ...base(t),
    tooltip: {...base(t).tooltip, formatter: p => p.seriesType === 'custom'
        ? tip([`${classes[p.data[2]]}: ${percent(p.data[3])}`, `${map.x.name} ${short(p.data[0])}`,
               `${map.y.name} ${short(p.data[1])}`])
        : tip([`${p.seriesName}: ${percent(p.data[2])} of its rows`, `around ${map.x.name} ${short(p.data[0])}`,
               `${map.y.name} ${short(p.data[1])}`])},
    grid: {left: 28, right: 20, top: 34, bottom: 26, containLabel: true},
    xAxis: axis(t, {type: 'value', min: map.x.low - dx / 2, max: map.x.high + dx / 2, splitLine: {show: false},
                    name: clip(map.x.name, 40), nameLocation: 'middle', nameGap: 26,
                    axisLabel: {color: t.muted, showMinLabel: false, showMaxLabel: false, formatter: short}}),
    yAxis: axis(t, {type: 'value', min: map.y.low - dy / 2, max: map.y.high + dy / 2, splitLine: {show: false},
                    ...upright(clip(map.y.name, 30), 36),
                    axisLabel: {color: t.muted, showMinLabel: false, showMaxLabel: false, formatter: short}}),
    series: [
      {type: 'custom', data: cells, encode: {x: 0, y: 1}, clip: true, renderItem: (params, api) => {
        const at = api.coord([api.value(0) - dx / 2, api.value(1) + dy / 2]);
        const size = api.size([dx, dy]);
        return {type: 'rect', shape: {x: at[0], y: at[1], width: size[0] + 1, height: size[1] + 1},
                style: {fill: cellColour(api.value(2), api.value(3), classes.length)}};
      }},
      density('training rows', map.train, 'circle', '#ffffff', '#222222'),
      density('target rows', map.target, 'diamond', '#222222', '#ffffff'),
    ],
  };
};
