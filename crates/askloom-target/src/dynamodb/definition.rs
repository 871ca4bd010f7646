//! Tables as definitions: commands, a CloudFormation template, a Terraform file.

use super::json::{Doc, argument, map, text, truth};
use super::schema::{DynamoTable, Key};
use super::settings::{Billing, Settings};
use crate::generate::{Block, File};
use crate::names::NameRule;
use std::collections::HashSet;

/// Names of resources in Terraform.
const RESOURCES: NameRule = NameRule {
    allowed: |letter| letter.is_ascii_alphanumeric() || letter == '_',
    first: |letter| letter.is_ascii_alphabetic(),
    small: true,
    reserved: &[],
    longest: 200,
};

const ROLES: [&str; 2] = ["HASH", "RANGE"];

/// The commands that make a table.
pub(super) fn create(table: &DynamoTable, settings: &Settings) -> Block {
    let input = Doc::Map(properties(table, settings));
    let name = argument(&table.name);
    let mut text = format!(
        "aws dynamodb create-table --cli-input-json {}\naws dynamodb wait table-exists --table-name {name}",
        argument(&input.print())
    );
    if settings.point_in_time_recovery {
        text.push_str(&format!(
            "\naws dynamodb update-continuous-backups --table-name {name} \\\n  \
             --point-in-time-recovery-specification PointInTimeRecoveryEnabled=true"
        ));
    }
    Block { of: table.name.clone(), text, whole: true }
}

fn attributes(table: &DynamoTable) -> Doc {
    let one =
        |key: &Key| map([("AttributeName", text(&key.name)), ("AttributeType", text(key.scalar().name()))]);
    Doc::List(table.keys().map(one).collect())
}

/// What the command and CloudFormation have in common.
fn properties(table: &DynamoTable, settings: &Settings) -> Vec<(String, Doc)> {
    let keys = table.keys().zip(ROLES);
    let keys = keys.map(|(key, role)| map([("AttributeName", text(&key.name)), ("KeyType", text(role))]));
    let mut all = vec![
        ("TableName", text(&table.name)),
        ("AttributeDefinitions", attributes(table)),
        ("KeySchema", Doc::List(keys.collect())),
    ];
    match settings.billing {
        Billing::OnDemand => all.push(("BillingMode", text("PAY_PER_REQUEST"))),
        Billing::Provisioned { read_units, write_units } => {
            let units = |units: u64| Doc::Plain(units.to_string());
            all.push(("BillingMode", text("PROVISIONED")));
            let both = [("ReadCapacityUnits", units(read_units)), ("WriteCapacityUnits", units(write_units))];
            all.push(("ProvisionedThroughput", map(both)));
        }
    }
    if settings.deletion_protection {
        all.push(("DeletionProtectionEnabled", truth(true)));
    }
    if !settings.tags.is_empty() {
        let tags = settings.tags.iter().map(|(name, tag)| map([("Key", text(name)), ("Value", text(tag))]));
        all.push(("Tags", Doc::List(tags.collect())));
    }
    all.into_iter().map(|(name, field)| (name.to_owned(), field)).collect()
}

fn expiring<'t>(table: &'t DynamoTable, followed: Option<&bool>) -> Option<&'t str> {
    let stamps = table.stamps.as_ref().filter(|_| followed.is_some_and(|followed| *followed))?;
    Some(&stamps.gone)
}

fn file(name: &str, run: &str, doc: &Doc) -> File {
    let block = Block { of: name.to_owned(), text: doc.print(), whole: true };
    File { name: name.to_owned(), run: Some(run.to_owned()), blocks: vec![block] }
}

/// Names of resources in CloudFormation: letters and digits alone, all different.
fn logical(tables: &[DynamoTable]) -> Vec<String> {
    let mut taken = HashSet::new();
    let one = |table: &DynamoTable| {
        let plain: String = table.name.chars().filter(char::is_ascii_alphanumeric).collect();
        let mut name = if plain.is_empty() { "Table".to_owned() } else { plain.clone() };
        let mut number = 2_usize;
        while !taken.insert(name.clone()) {
            name = format!("{plain}x{number}");
            number += 1;
        }
        name
    };
    tables.iter().map(one).collect()
}

pub(super) fn cloudformation(tables: &[DynamoTable], settings: &Settings, followed: &[bool]) -> File {
    let names = logical(tables);
    let resource = |(at, (table, name)): (usize, (&DynamoTable, String))| {
        let mut all = properties(table, settings);
        if settings.point_in_time_recovery {
            let enabled = map([("PointInTimeRecoveryEnabled", truth(true))]);
            all.push(("PointInTimeRecoverySpecification".to_owned(), enabled));
        }
        if let Some(gone) = expiring(table, followed.get(at)) {
            let ttl = map([("AttributeName", text(gone)), ("Enabled", truth(true))]);
            all.push(("TimeToLiveSpecification".to_owned(), ttl));
        }
        // A table that is taken out of the template keeps its data.
        let resource = map([
            ("Type", text("AWS::DynamoDB::Table")),
            ("DeletionPolicy", text("Retain")),
            ("UpdateReplacePolicy", text("Retain")),
            ("Properties", Doc::Map(all)),
        ]);
        (name, resource)
    };
    let resources = tables.iter().zip(names).enumerate().map(resource).collect();
    let template =
        map([("AWSTemplateFormatVersion", text("2010-09-09")), ("Resources", Doc::Map(resources))]);
    let run = "aws cloudformation deploy --template-file cloudformation.json --stack-name STACK";
    file("cloudformation.json", run, &template)
}

pub(super) fn terraform(tables: &[DynamoTable], settings: &Settings, followed: &[bool]) -> File {
    let names = RESOURCES.names(tables.iter().map(|table| table.name.as_str()));
    let resource = |(at, (table, name)): (usize, (&DynamoTable, String))| {
        let attribute = |key: &Key| map([("name", literal(&key.name)), ("type", text(key.scalar().name()))]);
        let mut all = vec![("name", literal(&table.name)), ("hash_key", literal(&table.partition.name))];
        if let Some(sort) = &table.sort {
            all.push(("range_key", literal(&sort.name)));
        }
        all.push(("attribute", Doc::List(table.keys().map(attribute).collect())));
        match settings.billing {
            Billing::OnDemand => all.push(("billing_mode", text("PAY_PER_REQUEST"))),
            Billing::Provisioned { read_units, write_units } => {
                all.push(("billing_mode", text("PROVISIONED")));
                all.push(("read_capacity", Doc::Plain(read_units.to_string())));
                all.push(("write_capacity", Doc::Plain(write_units.to_string())));
            }
        }
        if settings.point_in_time_recovery {
            all.push(("point_in_time_recovery", map([("enabled", truth(true))])));
        }
        if settings.deletion_protection {
            all.push(("deletion_protection_enabled", truth(true)));
        }
        if let Some(gone) = expiring(table, followed.get(at)) {
            all.push(("ttl", map([("attribute_name", literal(gone)), ("enabled", truth(true))])));
        }
        if !settings.tags.is_empty() {
            let tags = settings.tags.iter().map(|(name, tag)| (name.clone(), literal(tag)));
            all.push(("tags", Doc::Map(tags.collect())));
        }
        (name, Doc::Map(all.into_iter().map(|(name, field)| (name.to_owned(), field)).collect()))
    };
    let resources = tables.iter().zip(names).enumerate().map(resource).collect();
    let tables = map([("aws_dynamodb_table", Doc::Map(resources))]);
    file("terraform.tf.json", "terraform apply", &map([("resource", tables)]))
}

/// Terraform takes `${` and `%{` for the start of an expression.
fn literal(value: &str) -> Doc {
    text(value.replace("${", "$${").replace("%{", "%%{"))
}
