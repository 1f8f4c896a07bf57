require('fs').writeFileSync(process.argv[2] + '.txt', 'ran\n');
