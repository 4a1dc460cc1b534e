//! A disk as a list of what was done to it, and the states in which a power loss could leave it:
//! what was synced is there; of the rest anything may be. Must not know what the files mean.

use std::collections::{BTreeMap, HashMap};

use crate::random::Random;

/// A folder or a file.
type Inode = usize;
const ROOT: Inode = 0;
const SECTOR: usize = 512;

#[derive(Clone, Debug)]
enum Op {
    /// Names of folders change together, as in a rename.
    Names(Vec<(Inode, String, Option<Inode>)>),
    Write(Inode, usize, Vec<u8>),
    Truncate(Inode, usize),
    /// What was done to it before the call began is on the disk.
    Sync(Inode, usize),
    /// Something that is visible outside: a word to the person, a tool's effect.
    Seen(String),
}

/// How much of what was not synced a power loss leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Loss {
    /// Nothing of it.
    All,
    /// The names, and no content: files without a byte.
    Content,
    /// The content, and no names.
    Names,
    /// What came after some moment.
    After,
    /// Any of it, and what is left of a write may be a part.
    Any,
    /// Nothing is lost, as after a kill.
    None,
}

pub const LOSSES: [Loss; 6] =
    [Loss::All, Loss::Content, Loss::Names, Loss::After, Loss::Any, Loss::None];

#[derive(Default)]
pub struct Disk {
    ops: Vec<Op>,
    is_dir: Vec<bool>,
    /// As the running system sees it.
    names: HashMap<(Inode, String), Inode>,
    /// Files that are in no folder, or were not when they were opened.
    unnamed: HashMap<String, Inode>,
    lengths: HashMap<Inode, usize>,
    cursors: HashMap<Inode, usize>,
}

/// Files by their path; a folder has no content.
pub type Files = BTreeMap<String, Option<Vec<u8>>>;

impl Disk {
    pub fn new() -> Self {
        Self { is_dir: vec![true], ..Self::default() }
    }

    /// How many things happened.
    pub fn len(&self) -> usize {
        self.ops.len()
    }

    fn find(&self, path: &str) -> Option<Inode> {
        path.split('/')
            .filter(|part| !part.is_empty())
            .try_fold(ROOT, |dir, part| self.names.get(&(dir, part.to_owned())).copied())
            .or_else(|| self.unnamed.get(path).copied())
    }

    fn place(&self, path: &str) -> anyhow::Result<(Inode, String)> {
        let (dir, name) = path.rsplit_once('/').unwrap_or(("", path));
        let dir =
            self.find(dir).ok_or_else(|| anyhow::anyhow!("the folder of {path} is not known"))?;
        Ok((dir, name.to_owned()))
    }

    fn name(&mut self, changes: Vec<(Inode, String, Option<Inode>)>) {
        for (dir, name, inode) in &changes {
            match inode {
                Some(inode) => self.names.insert((*dir, name.clone()), *inode),
                None => self.names.remove(&(*dir, name.clone())),
            };
        }
        self.ops.push(Op::Names(changes));
    }

    /// A file or folder gets a name, if it has none yet.
    pub fn create(&mut self, path: &str, is_dir: bool) -> anyhow::Result<()> {
        if self.find(path).is_some() {
            return Ok(());
        }
        let (dir, name) = self.place(path)?;
        self.is_dir.push(is_dir);
        let inode = self.is_dir.len() - 1;
        self.name(vec![(dir, name, Some(inode))]);
        Ok(())
    }

    /// A new file in no folder. `path` is what its descriptor is called, and no folder's name.
    pub fn create_unnamed(&mut self, path: &str) {
        self.is_dir.push(false);
        self.unnamed.insert(path.to_owned(), self.is_dir.len() - 1);
    }

    pub fn seek(&mut self, path: &str, to: usize) {
        if let Some(inode) = self.find(path) {
            self.cursors.insert(inode, to);
        }
    }

    pub fn seek_end(&mut self, path: &str) {
        if let Some(inode) = self.find(path) {
            let end = self.lengths.get(&inode).copied().unwrap_or_default();
            self.cursors.insert(inode, end);
        }
    }

    pub fn write(&mut self, path: &str, at: Option<usize>, bytes: Vec<u8>) -> anyhow::Result<()> {
        let inode =
            self.find(path).ok_or_else(|| anyhow::anyhow!("{path} is written and not known"))?;
        let from = at.unwrap_or_else(|| self.cursors.get(&inode).copied().unwrap_or_default());
        let end = from + bytes.len();
        if at.is_none() {
            self.cursors.insert(inode, end);
        }
        let length = self.lengths.entry(inode).or_default();
        *length = (*length).max(end);
        self.ops.push(Op::Write(inode, from, bytes));
        Ok(())
    }

    pub fn truncate(&mut self, path: &str, to: usize) {
        if let Some(inode) = self.find(path) {
            self.lengths.insert(inode, to);
            self.ops.push(Op::Truncate(inode, to));
        }
    }

    pub fn rename(&mut self, from: &str, to: &str) -> anyhow::Result<()> {
        let inode =
            self.find(from).ok_or_else(|| anyhow::anyhow!("{from} is renamed and not known"))?;
        let ((from_dir, from_name), (to_dir, to_name)) = (self.place(from)?, self.place(to)?);
        self.name(vec![(from_dir, from_name, None), (to_dir, to_name, Some(inode))]);
        Ok(())
    }

    pub fn link(&mut self, from: &str, to: &str) -> anyhow::Result<()> {
        let inode =
            self.find(from).ok_or_else(|| anyhow::anyhow!("{from} is linked and not known"))?;
        let (dir, name) = self.place(to)?;
        self.name(vec![(dir, name, Some(inode))]);
        Ok(())
    }

    pub fn remove(&mut self, path: &str) -> anyhow::Result<()> {
        let (dir, name) = self.place(path)?;
        self.name(vec![(dir, name, None)]);
        Ok(())
    }

    /// `began` is what [`Self::len`] was when the call began.
    pub fn sync(&mut self, path: &str, began: usize) {
        if let Some(inode) = self.find(path) {
            self.ops.push(Op::Sync(inode, began));
        }
    }

    pub fn seen(&mut self, what: String) {
        self.ops.push(Op::Seen(what));
    }

    /// What could be seen from outside before the moment.
    pub fn seen_before(&self, moment: usize) -> Vec<&str> {
        let seen = self.ops[..moment].iter().filter_map(|op| match op {
            Op::Seen(what) => Some(what.as_str()),
            _ => None,
        });
        seen.collect()
    }

    /// A moment for a power loss: half of them just before or behind a sync, a change of names, or
    /// something that was seen.
    pub fn moment(&self, random: &mut Random) -> usize {
        let anywhere = random.below(self.ops.len() as u64 + 1) as usize;
        if random.chance(50) {
            return anywhere;
        }
        let turning: Vec<usize> = (0..self.ops.len())
            .filter(|at| !matches!(self.ops[*at], Op::Write(..) | Op::Truncate(..)))
            .collect();
        random.pick(&turning).map_or(anywhere, |at| at + random.below(2) as usize)
    }

    /// What is there when the power is lost at `moment`.
    pub fn left(&self, moment: usize, loss: Loss, random: &mut Random) -> Files {
        let done = &self.ops[..moment];
        // The last call that covers it, for each file and folder.
        let mut synced: HashMap<Inode, usize> = HashMap::new();
        for op in done {
            if let Op::Sync(inode, began) = op {
                synced.insert(*inode, *began);
            }
        }
        let cut = random.below(moment as u64 + 1) as usize;
        let (mut names, mut content) = (BTreeMap::new(), HashMap::<Inode, Vec<u8>>::new());
        for (at, op) in done.iter().enumerate() {
            let safe = |inode: &Inode| synced.get(inode).is_some_and(|began| at < *began);
            match op {
                Op::Names(changes) => {
                    let stays = match loss {
                        Loss::All | Loss::Names => false,
                        Loss::Content | Loss::None => true,
                        Loss::After => at < cut,
                        Loss::Any => random.chance(50),
                    };
                    if changes.iter().any(|(dir, ..)| safe(dir)) || stays {
                        for (dir, name, inode) in changes {
                            match inode {
                                Some(inode) => names.insert((*dir, name.clone()), *inode),
                                None => names.remove(&(*dir, name.clone())),
                            };
                        }
                    }
                }
                Op::Write(inode, from, bytes) => {
                    let file = content.entry(*inode).or_default();
                    let stays = match loss {
                        _ if safe(inode) => bytes.len(),
                        Loss::All | Loss::Content => 0,
                        Loss::Names | Loss::None => bytes.len(),
                        Loss::After if at < cut => bytes.len(),
                        Loss::After => 0,
                        Loss::Any => torn(bytes.len(), random),
                    };
                    let kept = &bytes[..stays];
                    // A file system may know of the new length and not have the bytes.
                    let known = if loss == Loss::Any && stays < bytes.len() && random.chance(20) {
                        bytes.len()
                    } else {
                        stays
                    };
                    if known > 0 && file.len() < from + known {
                        file.resize(from + known, 0);
                    }
                    let from = (*from).min(file.len());
                    file[from..][..kept.len()].copy_from_slice(kept);
                }
                Op::Truncate(inode, to) => {
                    let stays = match loss {
                        Loss::All | Loss::Content => false,
                        Loss::Names | Loss::None => true,
                        Loss::After => at < cut,
                        Loss::Any => random.chance(50),
                    };
                    if safe(inode) || stays {
                        content.entry(*inode).or_default().resize(*to, 0);
                    }
                }
                Op::Sync(..) | Op::Seen(_) => {}
            }
        }
        let mut files = Files::new();
        self.collect(ROOT, "", &names, &content, &mut files);
        files
    }

    fn collect(
        &self,
        dir: Inode,
        prefix: &str,
        names: &BTreeMap<(Inode, String), Inode>,
        content: &HashMap<Inode, Vec<u8>>,
        files: &mut Files,
    ) {
        for ((_, name), inode) in names.range((dir, String::new())..(dir + 1, String::new())) {
            let path = format!("{prefix}/{name}");
            if self.is_dir[*inode] {
                files.insert(path.clone(), None);
                self.collect(*inode, &path, names, content, files);
            } else {
                files.insert(path, Some(content.get(inode).cloned().unwrap_or_default()));
            }
        }
    }
}

/// All of a write, none of it, or its first sectors.
fn torn(length: usize, random: &mut Random) -> usize {
    match random.below(4) {
        0 => 0,
        1 => (random.below(length as u64 / SECTOR as u64 + 1) as usize * SECTOR).min(length),
        _ => length,
    }
}
